#include "sim/energy/membrane.h"

#include <algorithm>
#include <cmath>

namespace eipc {
namespace {

constexpr int64_t kGrain = 64;
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

MembraneTerm::MembraneTerm(const ShellBody* shell, ThreadPool* pool) : shell_(shell), pool_(pool) {
  const size_t n = shell->triangles.size();
  shape_gradient_.resize(n);
  for (size_t t = 0; t < n; ++t) {
    for (int k = 0; k < 2; ++k) shape_gradient_[t][k + 1] = shell->inverse_rest[t].row(k);
    shape_gradient_[t][0] = -(shape_gradient_[t][1] + shape_gradient_[t][2]);
  }
  if (damped()) {
    damping_stiffness_.resize(n);
    f_tilde_.resize(n);
  }
  value_.resize(n);
  stress_.resize(n);
  blocks_.resize(n);
}

void MembraneTerm::BeginStage(const StageContext& stage) {
  damping_ = shell_->rayleigh_beta_s / stage.gamma_h;
  if (!damped()) return;
  pool_->ParallelFor(static_cast<int64_t>(shell_->triangles.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      damping_stiffness_[t] = shell_->membrane.Hessian(MembraneGradient(*shell_, t, stage.q_start), true);
      f_tilde_[t] = MembraneGradient(*shell_, t, stage.q_tilde);
    }
  });
}

double MembraneTerm::TriangleValue(size_t t, const VecX& q) const {
  const Mat32 f = MembraneGradient(*shell_, t, q);
  double density = shell_->membrane.Psi(f);
  if (damped()) {
    const Mat32 rate = f - f_tilde_[t];
    const Eigen::Map<const Vec6> r(rate.data());
    density += 0.5 * damping_ * r.dot(damping_stiffness_[t] * r);
  }
  return shell_->area[t] * density;
}

Mat32 MembraneTerm::TriangleStress(size_t t, const VecX& q) const {
  const Mat32 f = MembraneGradient(*shell_, t, q);
  Mat32 stress = shell_->membrane.Stress(f);
  if (damped()) {
    const Mat32 rate = f - f_tilde_[t];
    const Vec6 extra = damping_ * (damping_stiffness_[t] * Eigen::Map<const Vec6>(rate.data()));
    stress += Eigen::Map<const Mat32>(extra.data());
  }
  return shell_->area[t] * stress;
}

double MembraneTerm::Value(const Point& point) {
  pool_->ParallelFor(static_cast<int64_t>(value_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) value_[t] = TriangleValue(t, point.q);
  });
  double sum = 0;
  for (const double value : value_) sum += value;
  return sum;
}

void MembraneTerm::AddGradient(const Point& point, VecX* gradient) {
  pool_->ParallelFor(static_cast<int64_t>(stress_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) stress_[t] = TriangleStress(t, point.q);
  });
  for (size_t t = 0; t < stress_.size(); ++t) {
    for (int a = 0; a < 3; ++a) gradient->segment<3>(3 * shell_->triangles[t][a]) += stress_[t] * shape_gradient_[t][a];
  }
}

void MembraneTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  pool_->ParallelFor(static_cast<int64_t>(blocks_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      Mat6 c = shell_->membrane.Hessian(MembraneGradient(*shell_, t, point.q), true);
      if (damped()) c += damping_ * damping_stiffness_[t];
      const std::array<Vec2, 3>& g = shape_gradient_[t];
      int k = 0;
      for (int a = 0; a < 3; ++a) {
        const Eigen::Matrix<double, 3, 6> half = shell_->area[t] * (g[a][0] * c.topRows<3>() + g[a][1] * c.bottomRows<3>());
        for (int b = 0; b <= a; ++b, ++k) blocks_[t][k] = g[b][0] * half.leftCols<3>() + g[b][1] * half.rightCols<3>();
      }
    }
  });
  for (size_t t = 0; t < blocks_.size(); ++t) {
    for (int k = 0; k < 6; ++k) {
      const Mat3& block = blocks_[t][k];
      hessian->AddAt(slots_[t][k], transposed_[t][k] ? Mat3(block.transpose()) : block);
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

void MembraneTerm::BindPattern(const BlockMatrix& hessian) {
  slots_.resize(shell_->triangles.size());
  transposed_.resize(shell_->triangles.size());
  for (size_t t = 0; t < shell_->triangles.size(); ++t) {
    const Triangle& v = shell_->triangles[t];
    int k = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b <= a; ++b, ++k) {
        transposed_[t][k] = v[a] < v[b];
        slots_[t][k] = hessian.Find(std::max(v[a], v[b]), std::min(v[a], v[b]));
      }
    }
  }
}

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
