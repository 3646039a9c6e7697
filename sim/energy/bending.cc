#include "sim/energy/bending.h"

#include <algorithm>

#include "sim/base/quad.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 64;

HingeAngle AngleAt(const Hinge& hinge, const VecX& q) {
  const std::array<int32_t, 4>& n = hinge.nodes;
  return HingeAngle({q.segment<3>(3 * n[0]), q.segment<3>(3 * n[1]), q.segment<3>(3 * n[2]), q.segment<3>(3 * n[3])});
}

Quad Padded(const double* p) { return Quad{p[0], p[1], p[2], 0}; }

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
  const size_t n = shell->hinges.size();
  angle_tilde_.resize(n);
  angles_.resize(n);
  change_.resize(n);
  rate_.resize(n);
  moment_.resize(n);
  gradient_.resize(n);
  hessian_.resize(n);
}

void BendingTerm::BeginStage(const StageContext& stage) {
  damping_ = shell_->rayleigh_beta_s / stage.gamma_h;
  for (size_t h = 0; h < angle_tilde_.size(); ++h) {
    angle_tilde_[h] = damping_ > 0 ? AngleAt(shell_->hinges[h], stage.q_tilde).value() : 0;
  }
}

void BendingTerm::FindAngles(const VecX& q, bool with_gradients) {
  const bool same = q_.size() == q.size() && q_ == q;
  if (same && (has_gradients_ || !with_gradients)) return;
  pool_->ParallelFor(static_cast<int64_t>(angles_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t h = begin; h < end; ++h) {
      if (!same) angles_[h] = AngleAt(shell_->hinges[h], q);
      if (with_gradients) gradient_[h] = angles_[h].Gradient();
    }
  });
  if (!same) q_ = q;
  has_gradients_ = with_gradients;
}

void BendingTerm::FindMoments(const VecX& q, bool with_gradients) {
  FindAngles(q, with_gradients);
  for (size_t h = 0; h < angles_.size(); ++h) {
    change_[h] = angles_[h].value() - shell_->hinges[h].rest_angle;
    rate_[h] = angles_[h].value() - angle_tilde_[h];
  }
  std::fill(moment_.begin(), moment_.end(), 0.0);
  AddMoments(change_, 1);
  if (damping_ > 0) AddMoments(rate_, damping_);
}

void BendingTerm::AddMoments(const std::vector<double>& change, double factor) {
  for (size_t h = 0; h < moment_.size(); ++h) moment_[h] += factor * shell_->hinges[h].stiffness * change[h];
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
  for (size_t h = 0; h < moment_.size(); ++h) {
    for (int a = 0; a < 4; ++a) {
      gradient->segment<3>(3 * shell_->hinges[h].nodes[a]) += moment_[h] * gradient_[h].segment<3>(3 * a);
    }
  }
}

void BendingTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  FindMoments(point.q, true);
  const double factor = 1 + damping_;
  pool_->ParallelFor(static_cast<int64_t>(hessian_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t h = begin; h < end; ++h) {
      hessian_[h] = factor * shell_->hinges[h].stiffness * gradient_[h] * gradient_[h].transpose();
      angles_[h].AddHessian(moment_[h], true, &hessian_[h]);
    }
  });
  for (size_t h = 0; h < hessian_.size(); ++h) {
    int k = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b, ++k) {
        const Slot& slot = hinge_slots_[h][k];
        const int row = slot.transposed ? b : a, column = slot.transposed ? a : b;  // it is symmetric
        const double* block = hessian_[h].data() + 12 * (3 * column) + 3 * row;
        hessian->AddColumnsAt(slot.at, {Padded(block), Padded(block + 12), Padded(block + 24)});
      }
    }
  }
  for (size_t c = 0; c < shell_->couplings.size(); ++c) AddCoupling(c, factor * shell_->couplings[c].stiffness, hessian);
}

// stiffness (g_i g_j^T + g_j g_i^T): the matrix holds one of each block and its transposed.
void BendingTerm::AddCoupling(size_t c, double stiffness, BlockMatrix* hessian) const {
  const HingeCoupling& pair = shell_->couplings[c];
  const Vec12 &gi = gradient_[pair.i], &gj = gradient_[pair.j];
  int k = 0;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b, ++k) {
      const Slot& slot = pair_slots_[c][k];
      const Quad u = stiffness * Padded(gi.data() + 3 * a), v = Padded(gj.data() + 3 * b);
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
  for (const Hinge& hinge : shell.hinges) change.push_back(AngleAt(hinge, q).value() - hinge.rest_angle);
  return Quadratic(shell, change);
}

}  // namespace eipc
