#ifndef EIPC_SIM_SOLVER_TIME_LIMIT_H_
#define EIPC_SIM_SOLVER_TIME_LIMIT_H_

#include <chrono>
#include <cstdint>

namespace eipc {

// When the solves of a step are to end with what they have: at a time, or, to take such a step again bit for bit, at the check at
// which time ended them then (TimeLimit::ended_at).
struct SolveLimit {
  using Clock = std::chrono::steady_clock;
  Clock::time_point until = Clock::time_point::max();
  int64_t ends_at_check = -1;

  // So many seconds after `begin`; none where they are not positive, or longer than any step.
  static SolveLimit After(double seconds, Clock::time_point begin);

  bool timed() const { return until != Clock::time_point::max(); }
};

// Ends the solves of one step in time. Solvers ask between two iterations, where the point that they have reached is admissible,
// and return it when the answer is yes. Which check that was is all that time decides: a step that is given it gives the same bits
// without a clock.
class TimeLimit {
 public:
  void BeginStep(const SolveLimit& limit);
  // Whether solves are to end now, because another iteration and the end of the step, if they took a little longer than lately,
  // would not be in time. Once true, true for the rest of the step; always false without a limit. The first check of a step never
  // ends it by time: without a single iteration a step would know no force.
  bool Ended();
  // The same within an iteration that may be long, before another trial of its line search: whether that and the end of the step
  // would not be in time. The iteration then has no result, and the point where it began is returned. Not in the first iteration.
  bool EndedWithin();
  // The same between the parts of a step, which may take no iteration. Where it ends a step that has had none, the next check of
  // Ended lets one happen.
  bool EndedBetweenParts();
  // The step is complete.
  void EndStep();

  // The check that ended the solves of this step, counted from 0; -1: none did.
  int64_t ended_at() const { return ended_at_; }
  // Whether the step was complete after its time.
  bool late() const { return late_; }

 private:
  using Clock = SolveLimit::Clock;
  enum class Place { kBetweenIterations, kWithin, kBetweenParts };
  bool Check(Place place);
  bool OutOfTime(Place place);

  SolveLimit limit_;
  int64_t checks_ = 0;
  int64_t iterations_ = 0;  // checks between two of them
  int64_t ended_at_ = -1;
  bool late_ = false;
  Clock::time_point last_check_, last_iteration_;
  // In recent steps: the time between two checks, and from the last check to the end.
  Clock::duration iteration_{0}, ending_{0};
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_TIME_LIMIT_H_
