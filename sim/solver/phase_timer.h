#ifndef EIPC_SIM_SOLVER_PHASE_TIMER_H_
#define EIPC_SIM_SOLVER_PHASE_TIMER_H_

#include <array>
#include <chrono>

namespace eipc {

// Parts of a step whose times are measured separately.
enum class Phase {
  kElasticity,
  kContactDetection,
  kContactEnergy,
  kFriction,
  kInertia,
  kFactorize,
  kSolve,
  kCcd,
  kExactCheck,
  kOther
};
inline constexpr int kPhaseCount = 10;
const char* PhaseName(Phase phase);

using PhaseSeconds = std::array<double, kPhaseCount>;

// Adds the time of its scope to one phase.
class ScopedPhase {
 public:
  ScopedPhase(PhaseSeconds* seconds, Phase phase) : slot_(&(*seconds)[static_cast<int>(phase)]), start_(Clock::now()) {}
  ~ScopedPhase() { *slot_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  ScopedPhase(const ScopedPhase&) = delete;
  ScopedPhase& operator=(const ScopedPhase&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double* slot_;
  Clock::time_point start_;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_PHASE_TIMER_H_
