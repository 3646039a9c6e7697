#include "sim/linalg/pcg_solver.h"

namespace eipc {

bool PcgSolver::Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  rows_.Load(h, fixed, pool_);
  fixed_ = fixed;
  return preconditioner_->Prepare(h, fixed);
}

void PcgSolver::Project(VecX* y) const {
  for (size_t n = 0; n < fixed_.size(); ++n) {
    if (fixed_[n]) y->segment<3>(3 * n).setZero();
  }
}

ConjugateGradient::Result PcgSolver::Solve(const LowRank& updates, double tolerance, int max_iterations, VecX* rhs) {
  b_ = *rhs;
  Project(&b_);
  const auto apply = [&](const VecX& p, VecX* out) {
    rows_.Multiply(p, out, pool_);
    updates.AddTimes(p, out);
    Project(out);
  };
  const auto precondition = [&](const VecX& r, VecX* z) { preconditioner_->Apply(r, z); };
  const ConjugateGradient::Result result = cg_.Solve(apply, precondition, b_, tolerance, max_iterations, &x_);
  if (!result.converged) return result;
  for (size_t n = 0; n < fixed_.size(); ++n) {
    if (!fixed_[n]) rhs->segment<3>(3 * n) = x_.segment<3>(3 * n);
  }
  return result;
}

}  // namespace eipc
