#include "sim/dynamics/initial_acceleration.h"

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

void InitialAcceleration::Compute(StageProblem* problem, const State& from, double dt_s, bool with_contact,
                                  const std::vector<uint8_t>& fixed) {
  const VecX q_tilde = from.q - dt_s * from.v;  // any stage that has arrived here with this velocity has these forces
  problem->SetContactWeight(with_contact ? 1 : 0);
  problem->BeginStage(from.q, q_tilde, from.v, dt_s);
  problem->SetPoint(from.q);
  problem->LagFriction();
  gradient_.setZero(from.q.size());
  problem->Gradient(&gradient_);
  if (mass_.nodes() != model_->node_count) {
    mass_ = BlockMass(model_->mass);
    analyzed_fixed_.clear();
  }
  if (analyzed_fixed_ != fixed) {
    solver_.Analyze(mass_, {}, fixed);
    analyzed_fixed_ = fixed;
  }
  ZeroFixed(fixed, &gradient_);
  acceleration_ = -gradient_;
  // A node without mass of its own has no acceleration to start from.
  if (solver_.Factorize(mass_, fixed)) {
    solver_.Solve(&acceleration_);
  } else {
    acceleration_.setZero();
  }
}

}  // namespace eipc
