#ifndef EIPC_SIM_DYNAMICS_PART_SCHEDULE_H_
#define EIPC_SIM_DYNAMICS_PART_SCHEDULE_H_

#include <cstdint>

#include "sim/dynamics/dynamics_settings.h"
#include "sim/dynamics/state.h"

namespace eipc {

// The parts that a step is taken in, of dt / 2^halvings: finer where a part is refused, coarser again where its place in the step
// allows it and the effort did (step-size control by Newton iterations). Parts are counted in units of the finest size, so the
// grid of steps is kept.
class PartSchedule {
 public:
  explicit PartSchedule(const DynamicsSettings& settings) : settings_(settings), whole_(int64_t{1} << settings.max_step_halvings) {}

  // A step that begins with the size at which the last one ended.
  void Begin(const State& state);
  bool Done() const { return done_ == whole_; }

  // Of the part that is due: its size and its end as fractions of the step.
  double size() const { return static_cast<double>(units()) / static_cast<double>(whole_); }
  double end() const { return static_cast<double>(done_ + units()) / static_cast<double>(whole_); }
  // Newton iterations after which it is refused; 0: no limit.
  int max_iterations() const { return finest() || takes_rest_ ? 0 : settings_.substep_newton_iterations; }
  // It was blocked at the finest size: backward Euler takes it, whose end point is its solution, which nothing can block.
  bool by_backward_euler() const { return by_backward_euler_; }

  // The part was taken with this effort.
  void Accept(int newton_iterations);
  void Refuse();
  // There is no time for more than one: backward Euler takes the rest of the step.
  void TakeRest() { by_backward_euler_ = takes_rest_ = true; }

  // What the next step begins with.
  int halvings() const { return halvings_; }

 private:
  int64_t units() const { return takes_rest_ ? whole_ - done_ : whole_ >> halvings_; }
  bool finest() const { return halvings_ == settings_.max_step_halvings; }

  const DynamicsSettings& settings_;
  const int64_t whole_;
  int halvings_ = 0;
  int64_t done_ = 0;
  bool by_backward_euler_ = false;
  bool takes_rest_ = false;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_PART_SCHEDULE_H_
