#include "sim/solver/time_limit.h"

#include <algorithm>

namespace eipc {
namespace {

using Duration = SolveLimit::Clock::duration;

// Follows how long something takes. A pause of the machine counts as little more than a long one: it says nothing of the next.
Duration Followed(Duration usual, Duration now) {
  if (usual == Duration::zero()) return now;
  constexpr int kLongest = 3, kWeight = 4;
  return usual + (std::min(now, kLongest * usual) - usual) / kWeight;
}

}  // namespace

SolveLimit SolveLimit::After(double seconds, Clock::time_point begin) {
  constexpr double kLongest = 1e6;
  SolveLimit limit;
  if (seconds > 0 && seconds < kLongest)
    limit.until = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  return limit;
}

void TimeLimit::BeginStep(const SolveLimit& limit) {
  limit_ = limit;
  checks_ = iterations_ = 0;
  ended_at_ = -1;
  late_ = false;
  if (limit_.timed()) last_check_ = Clock::now();
}

bool TimeLimit::OutOfTime(Place place) {
  const Clock::time_point now = Clock::now();
  if (place == Place::kBetweenParts) return now + (iteration_ + ending_) * 3 / 2 > limit_.until;
  const Duration trial = now - last_check_;
  last_check_ = now;
  if (place == Place::kWithin) return iterations_ > 1 && now + trial + ending_ * 3 / 2 > limit_.until;
  if (iterations_ > 1) iteration_ = Followed(iteration_, now - last_iteration_);
  last_iteration_ = now;
  return iterations_ > 1 && now + (iteration_ + ending_) * 3 / 2 > limit_.until;
}

bool TimeLimit::Check(Place place) {
  const bool first = iterations_ == 0;
  if (place == Place::kBetweenIterations) ++iterations_;
  if (ended_at_ >= 0) return !first || place != Place::kBetweenIterations;
  const int64_t check = checks_++;
  const bool ended = limit_.timed() ? OutOfTime(place) : check == limit_.ends_at_check;
  if (ended) ended_at_ = check;
  return ended;
}

bool TimeLimit::Ended() { return Check(Place::kBetweenIterations); }

bool TimeLimit::EndedWithin() { return Check(Place::kWithin); }

bool TimeLimit::EndedBetweenParts() { return Check(Place::kBetweenParts); }

void TimeLimit::EndStep() {
  if (!limit_.timed()) return;
  const Clock::time_point now = Clock::now();
  ending_ = Followed(ending_, now - last_check_);
  late_ = now > limit_.until;
}

}  // namespace eipc
