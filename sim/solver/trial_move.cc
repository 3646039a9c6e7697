#include "sim/solver/trial_move.h"

#include <algorithm>

namespace eipc {

double TrialMove::Make(NewtonProblem* problem, const VecX& q, const VecX& direction, double fraction, PhaseSeconds* seconds) {
  curved_ = problem->Follow(q, direction, fraction, &point_);
  ScopedPhase timer(seconds, Phase::kCcd);
  chord_ = point_ - q;
  const double free = problem->MaxStep(chord_);
  limited_by_ = problem->MaxStepLimit();
  if (free >= 1) return fraction;
  if (curved_) return Shorten(problem, q, direction, free, fraction);
  point_ = q + free * chord_;
  return free * fraction;
}

// The chord to a point far along a curve may lead into what the curve itself avoids. Chord and curve differ less over a shorter
// distance, so the distance is reduced to the free part, or to a quarter, until most of the chord is free.
double TrialMove::Shorten(NewtonProblem* problem, const VecX& q, const VecX& direction, double free, double fraction) {
  constexpr int kMaxTries = 4;  // chord and curve differ by the square of the angle: by 1 / 65536 after four quarters
  constexpr double kMostOfIt = 0.5;
  double reached = 0;
  for (int k = 0; k < kMaxTries && free < kMostOfIt && free * fraction >= reached; ++k) {
    reached = 1.5 * free * fraction;  // a shorter chord that leads no further does not help
    fraction *= std::max(free, 0.25);
    problem->Follow(q, direction, fraction, &point_);
    chord_ = point_ - q;
    free = problem->MaxStep(chord_);
  }
  if (free < 1) point_ = q + free * chord_;
  return std::min(1.0, free) * fraction;
}

}  // namespace eipc
