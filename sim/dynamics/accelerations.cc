#include "sim/dynamics/accelerations.h"

#include <utility>

#include "sim/solver/stacked_nodes.h"

namespace eipc {
namespace {

BlockMatrix BlockMass(const ScalarSparse& mass) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int32_t i = 0; i < mass.n; ++i) {
    for (int32_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k) pairs.emplace_back(i, mass.columns[k]);
  }
  BlockMatrix out;
  out.SetPattern(mass.n, &pairs);
  for (int32_t i = 0; i < mass.n; ++i) {
    for (int32_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k) {
      if (mass.columns[k] <= i) out.Add(i, mass.columns[k], mass.values[k] * Mat3::Identity());
    }
  }
  return out;
}

}  // namespace

void Accelerations::MassTimes(const VecX& x, VecX* y) const {
  y->resize(x.size());
  for (int32_t i = 0; i < model_->mass.n; ++i) y->segment<3>(3 * i) = model_->mass.RowTimes(i, x);
}

bool Accelerations::Solve(const std::vector<uint8_t>& fixed, VecX* r) {
  if (mass_.nodes() != model_->node_count) {
    mass_ = BlockMass(model_->mass);
    analyzed_fixed_.clear();
  }
  if (analyzed_fixed_ != fixed) {
    solver_.Analyze(mass_, {}, fixed);
    analyzed_fixed_ = fixed;
    factored_ = solver_.Factorize(mass_, fixed);
  }
  ZeroFixed(fixed, r);
  if (factored_) {
    solver_.Solve(r);
  } else {
    r->setZero();
  }
  return factored_;
}

bool Accelerations::Compute(StageProblem* problem, const std::vector<uint8_t>& fixed, VecX* a) {
  problem->Forces(&force_);
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (!fixed[n]) a->segment<3>(3 * n).setZero();
  }
  const VecX prescribed = *a;
  if (!prescribed.isZero(0)) {
    for (int32_t n = 0; n < model_->node_count; ++n) force_.segment<3>(3 * n) -= model_->mass.RowTimes(n, prescribed);
  }
  const bool solved = Solve(fixed, &force_);
  *a = force_;
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (fixed[n]) a->segment<3>(3 * n) = prescribed.segment<3>(3 * n);
  }
  return solved;
}

}  // namespace eipc
