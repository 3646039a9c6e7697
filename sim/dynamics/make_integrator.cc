#include "sim/dynamics/multistep_integrators.h"
#include "sim/dynamics/one_stage_integrators.h"
#include "sim/dynamics/time_integrator.h"
#include "sim/dynamics/two_stage_integrators.h"

namespace eipc {

std::unique_ptr<TimeIntegrator> MakeIntegrator(IntegratorKind kind) {
  switch (kind) {
    case IntegratorKind::kBackwardEuler:
      return std::make_unique<BackwardEuler>();
    case IntegratorKind::kTrapezoidal:
      return std::make_unique<Trapezoidal>();
    case IntegratorKind::kBdf2:
      return std::make_unique<Bdf2>();
    case IntegratorKind::kTrBdf2:
      return std::make_unique<TwoStageIntegrator>(TwoStageIntegrator::TrBdf2());
    case IntegratorKind::kSdirk2:
      return std::make_unique<TwoStageIntegrator>(TwoStageIntegrator::Sdirk2());
    case IntegratorKind::kImplicitMidpoint:
      return std::make_unique<ImplicitMidpoint>();
    case IntegratorKind::kTrapezoidalUnsplitContact:
      return std::make_unique<TrapezoidalUnsplitContact>();
  }
  return std::make_unique<BackwardEuler>();
}

}  // namespace eipc
