#ifndef EIPC_SIM_SOLVER_STAGE_TIMER_H_
#define EIPC_SIM_SOLVER_STAGE_TIMER_H_

#include <array>
#include <chrono>

namespace eipc {

// Parts of a step whose time is told apart.
enum class Stage {
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
inline constexpr int kStageCount = 10;
const char* StageName(Stage stage);

using StageSeconds = std::array<double, kStageCount>;

// Adds the time of its scope to one stage.
class ScopedStage {
 public:
  ScopedStage(StageSeconds* seconds, Stage stage) : slot_(&(*seconds)[static_cast<int>(stage)]), start_(Clock::now()) {}
  ~ScopedStage() { *slot_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  ScopedStage(const ScopedStage&) = delete;
  ScopedStage& operator=(const ScopedStage&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double* slot_;
  Clock::time_point start_;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_STAGE_TIMER_H_
