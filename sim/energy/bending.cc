#include "sim/energy/bending.h"

#include <algorithm>

#include "sim/base/ordered_loop.h"
#include "sim/energy/lane_blocks.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 16;  // of four hinges

double AngleAt(const Hinge& hinge, const VecX& q) {
  const std::array<int32_t, 4>& n = hinge.nodes;
  return HingeAngle({q.segment<3>(3 * n[0]), q.segment<3>(3 * n[1]), q.segment<3>(3 * n[2]), q.segment<3>(3 * n[3])});
}

// Of four hinges from this one on, the last one repeated where there are fewer.
HingeAngles AnglesAt(const std::vector<Hinge>& hinges, size_t first, const VecX& q) {
  std::array<Vec3s, 4> x;
  for (int a = 0; a < 4; ++a) {
    Quad rows[4];
    for (size_t lane = 0; lane < 4; ++lane) {
      rows[lane] = LoadThree(q.data() + 3 * hinges[std::min(first + lane, hinges.size() - 1)].nodes[a]);
    }
    Transpose(rows);
    x[a] = {rows[0], rows[1], rows[2]};
  }
  return HingeAngles(x);
}

// The columns of u v^T.
std::array<Quad, 3> Outer(const Quad& u, const Quad& v) { return {v[0] * u, v[1] * u, v[2] * u}; }

double Quadratic(const ShellBody& shell, const std::vector<double>& change) {
  double sum = 0;
  for (size_t h = 0; h < shell.hinges.size(); ++h) sum += 0.5 * shell.hinges[h].stiffness * change[h] * change[h];
  for (const HingeCoupling& c : shell.couplings) sum += c.stiffness * change[c.i] * change[c.j];
  return sum;
}

}  // namespace

BendingTerm::BendingTerm(const ShellBody* shell, ThreadPool* pool) : shell_(shell), pool_(pool) {
  const size_t n = shell->hinges.size(), fours = (n + 3) / 4;
  angle_tilde_.resize(n);
  change_.resize(n);
  rate_.resize(n);
  moment_.resize(4 * fours);
  stiffness_.resize(4 * fours);
  for (size_t h = 0; h < n; ++h) stiffness_[h] = shell->hinges[h].stiffness;
  gradient_.resize(4 * fours);
  angles_.resize(fours);
  gradients_.resize(fours);
}

void BendingTerm::BeginStage(const StageContext& stage) {
  damping_ = shell_->rayleigh_beta_s / stage.gamma_h;
  for (size_t h = 0; h < angle_tilde_.size(); ++h) {
    angle_tilde_[h] = damping_ > 0 ? AngleAt(shell_->hinges[h], stage.q_tilde) : 0;
  }
}

void BendingTerm::FindAngles(const VecX& q, bool with_gradients) {
  const bool same = q_.size() == q.size() && q_ == q;
  if (same && (has_gradients_ || !with_gradients)) return;
  pool_->ParallelFor(static_cast<int64_t>(angles_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f) {
      if (!same) angles_[f] = AnglesAt(shell_->hinges, 4 * static_cast<size_t>(f), q);
      if (!with_gradients) continue;
      gradients_[f] = angles_[f].FindGradients();
      for (int a = 0; a < 4; ++a) {
        const std::array<Quad, 4> by_lane = ByLane(gradients_[f][a]);
        for (int lane = 0; lane < 4; ++lane) gradient_[4 * f + lane][a] = by_lane[lane];
      }
    }
  });
  if (!same) q_ = q;
  has_gradients_ = with_gradients;
}

void BendingTerm::FindMoments(const VecX& q, bool with_gradients) {
  FindAngles(q, with_gradients);
  for (size_t h = 0; h < change_.size(); ++h) {
    const double angle = angles_[h / 4].values()[h % 4];
    change_[h] = angle - shell_->hinges[h].rest_angle;
    rate_[h] = angle - angle_tilde_[h];
  }
  std::fill(moment_.begin(), moment_.end(), 0.0);
  AddMoments(change_, 1);
  if (damping_ > 0) AddMoments(rate_, damping_);
}

void BendingTerm::AddMoments(const std::vector<double>& change, double factor) {
  for (size_t h = 0; h < change.size(); ++h) moment_[h] += factor * stiffness_[h] * change[h];
  for (const HingeCoupling& c : shell_->couplings) {
    moment_[c.i] += factor * c.stiffness * change[c.j];
    moment_[c.j] += factor * c.stiffness * change[c.i];
  }
}

double BendingTerm::Value(const Point& point) {
  FindMoments(point.q, false);
  return Quadratic(*shell_, change_) + (damping_ > 0 ? damping_ * Quadratic(*shell_, rate_) : 0);
}

void BendingTerm::AddGradient(const Point& point, VecX* gradient) {
  FindMoments(point.q, true);
  for (size_t h = 0; h < shell_->hinges.size(); ++h) {
    for (int a = 0; a < 4; ++a) {
      const Quad of_node = moment_[h] * gradient_[h][a];
      gradient->segment<3>(3 * shell_->hinges[h].nodes[a]) += Vec3(of_node[0], of_node[1], of_node[2]);
    }
  }
}

void BendingTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  FindMoments(point.q, true);
  const double factor = 1 + damping_;
  constexpr int64_t kChunk = 8;  // 23 KiB of blocks
  ForEachInOrder<HingeAngles::Blocks, kChunk>(
      pool_, static_cast<int64_t>(angles_.size()),
      [&](int64_t f, HingeAngles::Blocks* blocks) {
        angles_[f].FindBounds(factor * LoadQuad(stiffness_.data() + 4 * f), gradients_[f], LoadQuad(moment_.data() + 4 * f),
                              blocks);
      },
      [&](int64_t f, const HingeAngles::Blocks& blocks) {
        for (int k = 0; k < 10; ++k) AddFour(static_cast<size_t>(f), k, blocks[k], hessian);
      });
  for (size_t c = 0; c < shell_->couplings.size(); ++c) AddCoupling(c, factor * shell_->couplings[c].stiffness, hessian);
}

// One block of each of four hinges. Its columns lie across the lanes; where it is to be transposed, its rows are taken for them.
void BendingTerm::AddFour(size_t four, int block, const Mat3s& by_columns, BlockMatrix* hessian) const {
  const Mat3s by_rows = Transposed(by_columns);
  std::array<std::array<Quad, 4>, 3> columns, rows;
  for (int j = 0; j < 3; ++j) columns[j] = ByLane(by_columns[j]), rows[j] = ByLane(by_rows[j]);
  const size_t first = 4 * four, count = std::min<size_t>(4, shell_->hinges.size() - first);
  for (size_t lane = 0; lane < count; ++lane) {
    const Slot& slot = hinge_slots_[first + lane][block];
    const std::array<std::array<Quad, 4>, 3>& of = slot.transposed ? rows : columns;
    hessian->AddColumnsAt(slot.at, {of[0][lane], of[1][lane], of[2][lane]});
  }
}

// stiffness (g_i g_j^T + g_j g_i^T): the matrix holds one of each block and its transposed.
void BendingTerm::AddCoupling(size_t c, double stiffness, BlockMatrix* hessian) const {
  const HingeCoupling& pair = shell_->couplings[c];
  const std::array<Quad, 4>&gi = gradient_[pair.i], &gj = gradient_[pair.j];
  int k = 0;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b, ++k) {
      const Slot& slot = pair_slots_[c][k];
      const Quad u = stiffness * gi[a], &v = gj[b];
      std::array<Quad, 3> columns = slot.transposed ? Outer(v, u) : Outer(u, v);
      if (slot.diagonal) {
        const std::array<Quad, 3> swapped = Outer(v, u);
        for (int j = 0; j < 3; ++j) columns[j] += swapped[j];
      }
      hessian->AddColumnsAt(slot.at, columns);
    }
  }
}

void BendingTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  const auto add = [pairs](int32_t a, int32_t b) {
    if (a != b) pairs->emplace_back(a, b);
  };
  for (const Hinge& hinge : shell_->hinges) {
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < a; ++b) add(hinge.nodes[a], hinge.nodes[b]);
    }
  }
  for (const HingeCoupling& c : shell_->couplings) {
    for (const int32_t a : shell_->hinges[c.i].nodes) {
      for (const int32_t b : shell_->hinges[c.j].nodes) add(a, b);
    }
  }
}

void BendingTerm::BindPattern(const BlockMatrix& hessian) {
  const auto slot = [&hessian](int32_t a, int32_t b) { return Slot{hessian.Find(std::max(a, b), std::min(a, b)), a < b, a == b}; };
  hinge_slots_.resize(shell_->hinges.size());
  pair_slots_.resize(shell_->couplings.size());
  for (size_t h = 0; h < shell_->hinges.size(); ++h) {
    const std::array<int32_t, 4>& n = shell_->hinges[h].nodes;
    int k = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b, ++k) hinge_slots_[h][k] = slot(n[a], n[b]);
    }
  }
  for (size_t c = 0; c < shell_->couplings.size(); ++c) {
    const HingeCoupling& pair = shell_->couplings[c];
    int k = 0;
    for (const int32_t a : shell_->hinges[pair.i].nodes) {
      for (const int32_t b : shell_->hinges[pair.j].nodes) pair_slots_[c][k++] = slot(a, b);
    }
  }
}

double BendingTerm::StoredEnergy(const ShellBody& shell, const VecX& q) {
  std::vector<double> change;
  for (const Hinge& hinge : shell.hinges) change.push_back(AngleAt(hinge, q) - hinge.rest_angle);
  return Quadratic(shell, change);
}

}  // namespace eipc
