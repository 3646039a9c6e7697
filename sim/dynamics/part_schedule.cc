#include "sim/dynamics/part_schedule.h"

#include <algorithm>

namespace eipc {

void PartSchedule::Begin(const State& state) {
  const int64_t kept = !state.history ? 0 : state.history->halvings;
  halvings_ = static_cast<int>(std::min<int64_t>(kept, settings_.max_step_halvings));
  done_ = 0;
  by_backward_euler_ = takes_rest_ = false;
}

void PartSchedule::Accept(int newton_iterations) {
  const int64_t taken = units();
  done_ += taken;
  by_backward_euler_ = false;
  const bool easy = !takes_rest_ && 2 * newton_iterations <= settings_.substep_newton_iterations;
  if (halvings_ > 0 && easy && done_ % (2 * taken) == 0) --halvings_;
  if (settings_.substep_newton_iterations == 0 && Done()) halvings_ = 0;
}

void PartSchedule::Refuse() {
  by_backward_euler_ = finest();
  if (!finest()) ++halvings_;
}

}  // namespace eipc
