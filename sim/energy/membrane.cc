#include "sim/energy/membrane.h"

#include <algorithm>
#include <cmath>

#include "sim/base/ordered_loop.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 16;  // groups of four triangles
// Of its area vector, what a triangle keeps on its side in one step.
constexpr double kLeastArea = 0.1;
// Of the room that its largest stretch has below the strain limit.
constexpr double kLeastRoom = 0.1;

Vec3 NodeAt(const VecX& q, int32_t node) { return q.segment<3>(3 * node); }

// Smallest t in (0, 1] where a + b t + c t^2 = 0 with a > 0; 1 when there is none.
double FirstZero(double a, double b, double c) {
  if (a + std::min(b, 0.0) + std::min(c, 0.0) > 0) return 1;
  const double discriminant = b * b - 4 * a * c;
  if (!(discriminant >= 0)) return 1;
  // The roots are 2 a / (-b -+ sqrt): no digits are lost in the one that is wanted.
  const double root = std::sqrt(discriminant), divisor = -b + root;
  const double t = divisor > 0 ? 2 * a / divisor : 1;
  return t > 0 && t < 1 ? t : 1;
}

double LargestStretch(const Mat32& f) { return Stretches(f).s[0]; }

// Largest t in [0, 1] for which the larger stretch of f + t df leaves a part of the room that that of f has below the limit. It is
// a convex function of t, so every chord from its start lies above it.
double StretchStep(const Mat32& f, const Mat32& df, double limit) {
  constexpr int kHalvings = 24;
  const double most = limit - kLeastRoom * std::max(0.0, limit - LargestStretch(f));
  if (LargestStretch(f + df) <= most) return 1;
  double low = 0, high = 1;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    (LargestStretch(f + middle * df) <= most ? low : high) = middle;
  }
  return low;
}

}  // namespace

Mat32 MembraneGradient(const ShellBody& shell, size_t t, const VecX& q) {
  const Triangle& v = shell.triangles[t];
  const Vec3 x0 = NodeAt(q, v[0]);
  Mat32 edges;
  edges << NodeAt(q, v[1]) - x0, NodeAt(q, v[2]) - x0;
  return edges * shell.inverse_rest[t];
}

template <typename Visit>
void MembraneTerm::ForGroups(const Visit& visit) {
  pool_->ParallelFor(static_cast<int64_t>(lanes_.groups().size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) visit(static_cast<size_t>(g));
  });
}

MembraneTerm::MembraneTerm(const ShellBody* shell, ThreadPool* pool) : shell_(shell), pool_(pool), lanes_(*shell) {
  const size_t n = lanes_.groups().size();
  membranes_.resize(n);
  rates_.resize(damped() ? n : 0);
  forces_.resize(n);
  if (damped()) damping_.resize(n);
}

void MembraneTerm::BeginStage(const StageContext& stage) {
  has_membranes_ = false;
  if (!damped()) return;
  const double factor = shell_->rayleigh_beta_s / stage.gamma_h;
  ForGroups([&](size_t g) {
    const TriangleLanes::Group& group = lanes_.groups()[g];
    Damping& damping = damping_[g];
    MembraneLanes(shell_->membrane, TriangleLanes::DeformationGradients(group, stage.q_start))
        .FindModes(shell_->membrane, &damping.modes);
    damping.modes.RemoveNegative();
    for (Quad& value : damping.modes.values) value *= factor;
    damping.blocks = {};
    TriangleLanes::AddModes(group, damping.modes, &damping.blocks);
    damping.f_tilde = TriangleLanes::DeformationGradients(group, stage.q_tilde);
  });
}

void MembraneTerm::FindMembranes(const VecX& q) {
  if (has_membranes_ && q_.size() == q.size() && q_ == q) return;
  ForGroups([&](size_t g) {
    const Mat32s f = TriangleLanes::DeformationGradients(lanes_.groups()[g], q);
    membranes_[g] = MembraneLanes(shell_->membrane, f);
    if (!damped()) return;
    for (int j = 0; j < 2; ++j) {
      for (int i = 0; i < 3; ++i) rates_[g][j][i] = f[j][i] - damping_[g].f_tilde[j][i];
    }
  });
  q_ = q;
  has_membranes_ = true;
}

double MembraneTerm::Value(const Point& point) {
  FindMembranes(point.q);
  double sum = 0;
  for (size_t g = 0; g < membranes_.size(); ++g) {
    Quad density = membranes_[g].Psi();
    if (damped()) density += 0.5 * damping_[g].Work(rates_[g]);
    const Quad value = lanes_.groups()[g].area * density;
    const size_t count = std::min<size_t>(4, lanes_.triangles() - 4 * g);
    for (size_t lane = 0; lane < count; ++lane) sum += value[lane];
  }
  return sum;
}

void MembraneTerm::AddGradient(const Point& point, VecX* gradient) {
  FindMembranes(point.q);
  ForGroups([&](size_t g) {
    Mat32s stress = membranes_[g].Stress();
    if (damped()) damping_[g].AddStress(rates_[g], &stress);
    forces_[g] = TriangleLanes::StressForces(lanes_.groups()[g], stress);
  });
  lanes_.AddForces(forces_, gradient);
}

void MembraneTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  FindMembranes(point.q);
  constexpr int64_t kChunk = 8;  // 14 KiB of blocks
  ForEachInOrder<TriangleLanes::Blocks, kChunk>(
      pool_, static_cast<int64_t>(membranes_.size()),
      [&](int64_t g, TriangleLanes::Blocks* blocks) {
        MembraneModes modes;
        membranes_[g].FindModes(shell_->membrane, &modes);
        modes.RemoveNegative();
        *blocks = damped() ? damping_[g].blocks : TriangleLanes::Blocks{};
        TriangleLanes::AddModes(lanes_.groups()[g], modes, blocks);
      },
      [&](int64_t g, const TriangleLanes::Blocks& blocks) { lanes_.AddBlocks(static_cast<size_t>(g), blocks, hessian); });
}

Quad MembraneTerm::Damping::Work(const Mat32s& rate) const {
  Quad sum = {};
  for (int k = 0; k < 6; ++k) {
    const Quad part = Inner(modes.matrices[k], rate);
    sum += modes.values[k] * part * part;
  }
  return sum;
}

void MembraneTerm::Damping::AddStress(const Mat32s& rate, Mat32s* stress) const {
  for (int k = 0; k < 6; ++k) {
    const Quad part = modes.values[k] * Inner(modes.matrices[k], rate);
    for (int j = 0; j < 2; ++j) {
      for (int i = 0; i < 3; ++i) (*stress)[j][i] += part * modes.matrices[k][j][i];
    }
  }
}

void MembraneTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  for (const Triangle& v : shell_->triangles) {
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < a; ++b) pairs->emplace_back(v[a], v[b]);
    }
  }
}

void MembraneTerm::BindPattern(const BlockMatrix& hessian) { lanes_.BindPattern(hessian); }

double MembraneTerm::StoredEnergy(const ShellBody& shell, const VecX& q) {
  double sum = 0;
  for (size_t t = 0; t < shell.triangles.size(); ++t) sum += shell.area[t] * shell.membrane.Psi(MembraneGradient(shell, t, q));
  return sum;
}

double MembraneTerm::MaxStep(const ShellBody& shell, const VecX& q, const VecX& dq) {
  double step = 1;
  for (const Triangle& v : shell.triangles) {
    const Vec3 a = NodeAt(q, v[1]) - NodeAt(q, v[0]), b = NodeAt(q, v[2]) - NodeAt(q, v[0]);
    const Vec3 da = NodeAt(dq, v[1]) - NodeAt(dq, v[0]), db = NodeAt(dq, v[2]) - NodeAt(dq, v[0]);
    const Vec3 n = a.cross(b), first = a.cross(db) + da.cross(b), second = da.cross(db);
    step = std::min(step, FirstZero((1 - kLeastArea) * n.squaredNorm(), n.dot(first), n.dot(second)));
  }
  if (!(shell.membrane.strain_limit > 0)) return step;
  for (size_t t = 0; t < shell.triangles.size(); ++t) {
    const Mat32 f = MembraneGradient(shell, t, q), df = MembraneGradient(shell, t, dq);
    step *= StretchStep(f, step * df, shell.membrane.strain_limit);
  }
  return step;
}

}  // namespace eipc
