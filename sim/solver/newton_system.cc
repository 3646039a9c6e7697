#include "sim/solver/newton_system.h"

#include <algorithm>
#include <cmath>

#include "sim/solver/linear_solvers.h"

namespace eipc {
namespace {

void Damp(const std::vector<double>& inertia, double factor, BlockMatrix* hessian) {
  for (int32_t n = 0; n < static_cast<int32_t>(inertia.size()); ++n) hessian->Add(n, n, factor * inertia[n] * Mat3::Identity());
}

// How exactly a system is worth solving (Eisenstat & Walker 1996, choice 2), from the decrease of the gradient since the previous
// system (0: unknown). The constant is Hauth's (3.2); no iteration gains from less than the least.
double Forcing(double gradient, double last_gradient) {
  constexpr double kMost = 0.02, kLeast = 1e-3, kPower = 1.618;
  if (!(last_gradient > 0)) return kMost;
  return std::clamp(std::pow(gradient / last_gradient, kPower), kLeast, kMost);
}

}  // namespace

NewtonSystem::NewtonSystem(const SolverSettings& settings, ThreadPool* pool, Interrupt* interrupt)
    : interrupt_(interrupt), most_krylov_iterations_(settings.most_krylov_iterations), cholesky_(interrupt, pool) {
  if (const auto& preconditioner = RowOf(settings.linear_solver).preconditioner) pcg_.emplace(*preconditioner, pool, interrupt);
}

void NewtonSystem::Begin() {
  held_ = Held::kNothing;
  last_gradient_ = 0;
}

bool NewtonSystem::Factorize(NewtonProblem* problem, const SolveContext& context, double damping) {
  held_ = Held::kNothing;
  do {
    if (problem->Hessian(&hessian_)) analyzed_ = false;
    ScopedPhase timer(context.seconds, Phase::kFactorize);
    if (Raised(interrupt_)) return false;
    if (!analyzed_ || context.fixed != analyzed_fixed_) {
      problem->ChangingNodes(&changing_);
      cholesky_.Analyze(hessian_, changing_, context.fixed);
      analyzed_ = true;
      analyzed_fixed_ = context.fixed;
    }
    if (damping > 0) Damp(problem->NodeInertia(), damping, &hessian_);
    if (!cholesky_.Factorize(hessian_, context.fixed)) continue;
    problem->RankOneUpdates(&rank_one_updates_);
    held_ = Held::kFactor;
    return woodbury_.Prepare(rank_one_updates_, context.fixed, [this](VecX* rhs) { cholesky_.Solve(rhs); });
  } while (problem->Project());
  return false;
}

void NewtonSystem::Assemble(NewtonProblem* problem) {
  held_ = Held::kNothing;
  if (problem->Hessian(&hessian_)) analyzed_ = false;
  problem->RankOneUpdates(&rank_one_updates_);
}

void NewtonSystem::SolveFactorized(VecX* y) {
  cholesky_.Solve(y);
  woodbury_.Correct(y);
}

void NewtonSystem::Multiply(const VecX& y, VecX* product) const {
  hessian_.Multiply(y, product);
  rank_one_updates_.AddTimes(y, product);
}

void NewtonSystem::RightHandSide(const std::vector<uint8_t>& fixed, const VecX& gradient, VecX* direction) {
  if (direction->isZero(0)) {
    product_ = gradient;
  } else {
    Multiply(*direction, &product_);
    product_ += gradient;
  }
  for (size_t n = 0; n < fixed.size(); ++n) {
    if (!fixed[n]) direction->segment<3>(3 * n) = -product_.segment<3>(3 * n);
  }
}

bool NewtonSystem::SolveIteratively(NewtonProblem* problem, const SolveContext& context, const VecX& gradient, double damping,
                                    VecX* direction, NewtonReport* report) {
  if (held_ == Held::kNothing) {
    if (problem->Hessian(&hessian_)) analyzed_ = false;
    ScopedPhase timer(context.seconds, Phase::kFactorize);
    if (damping > 0) Damp(problem->NodeInertia(), damping, &hessian_);
    problem->RankOneUpdates(&rank_one_updates_);
    indefinite_ = !pcg_->Prepare(hessian_, context.fixed);
    if (indefinite_) return false;
    held_ = Held::kMatrix;
  }
  ScopedPhase timer(context.seconds, Phase::kSolve);
  trial_ = *direction;
  RightHandSide(context.fixed, gradient, &trial_);
  const double norm = gradient.norm();
  const ConjugateGradient::Result result =
      pcg_->Solve(rank_one_updates_, Forcing(norm, last_gradient_), most_krylov_iterations_, &trial_);
  last_gradient_ = norm;
  report->krylov_iterations += result.iterations;
  indefinite_ = result.indefinite;
  left_to_factor_ |= !result.converged && !indefinite_ && !Raised(interrupt_);
  if (!result.converged || !trial_.allFinite()) return false;
  direction->swap(trial_);
  return true;
}

bool NewtonSystem::Correct(const SolveContext& context, const VecX& gradient, VecX* direction, NewtonReport* report) {
  constexpr double kTolerance = 1e-3;
  ScopedPhase timer(context.seconds, Phase::kSolve);
  RightHandSide(context.fixed, gradient, direction);
  const ConjugateGradient::Result result = pcg_->Solve(rank_one_updates_, kTolerance, most_krylov_iterations_, direction);
  report->krylov_iterations += result.iterations;
  return result.converged && direction->allFinite();
}

bool NewtonSystem::Solve(NewtonProblem* problem, const SolveContext& context, const VecX& gradient, const Options& options,
                         VecX* direction, NewtonReport* report) {
  if (!options.keep_matrix) held_ = Held::kNothing;
  if (held_ != Held::kNothing && !options.correction) ++report->kept_matrices;
  if (options.correction && held_ == Held::kMatrix) return Correct(context, gradient, direction, report);
  if (pcg_ && !left_to_factor_ && held_ != Held::kFactor) {
    do {
      if (SolveIteratively(problem, context, gradient, options.damping, direction, report)) return true;
      held_ = Held::kNothing;
    } while (indefinite_ && problem->Project());
    ++report->direct_solves;
  }
  if (held_ != Held::kFactor && !Factorize(problem, context, options.damping)) return false;
  ScopedPhase timer(context.seconds, Phase::kSolve);
  RightHandSide(context.fixed, gradient, direction);
  SolveFactorized(direction);
  return direction->allFinite();
}

}  // namespace eipc
