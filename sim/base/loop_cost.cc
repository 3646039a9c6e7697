#include "sim/base/loop_cost.h"

#include <algorithm>

namespace eipc {
namespace {

constexpr double kKept = 0.9375;  // of the runs before, in a mean
constexpr double kMostOfAMean = 4;
// Sharing takes the data of what follows to other cores too, which is not timed here.
constexpr double kWorth = 0.9;

}  // namespace

void LoopCost::Mean::Add(double work, double ns) {
  if (runs_ < kFirst) {
    if (runs_++ == 0 || ns * work_ < ns_ * work) ns_ = ns, work_ = work;
    return;
  }
  ns_ = kKept * ns_ + std::min(ns, kMostOfAMean * work * NsOfOne());
  work_ = kKept * work_ + work;
}

LoopCost::Length* LoopCost::LengthOf(double work) {
  size_t k = 0;
  for (double ns = ExpectedNs(work) / (4 * kLeastNs); ns > 1 && k + 1 < lengths_.size(); ns /= 4) ++k;
  return &lengths_[k];
}

bool LoopCost::Pays(double work) {
  if (ExpectedNs(work) < kLeastNs) return false;
  Length* const length = LengthOf(work);
  if (!length->alone.known()) return false;
  if (!length->shared.known()) return true;
  const bool pays = length->shared.NsOfOne() < kWorth * length->alone.NsOfOne();
  const int64_t asked = length->asked++;
  if (asked < length->tries_at) return pays;
  if (asked < length->tries_at + kTries) return !pays;
  const bool confirmed = pays == length->paid;
  length->paid = pays;
  length->round = confirmed ? std::min(2 * length->round, kMostRound) : std::max(length->round / 2, kRound);
  length->tries_at = asked + length->round;
  return pays;
}

void LoopCost::RanAlone(double work, double ns) {
  alone_.Add(work, ns);
  Length* const length = LengthOf(work);
  if (!length->was_shared || !length->alone.known()) length->alone.Add(work, ns);
  length->was_shared = false;
}

void LoopCost::RanShared(double work, double ns) {
  Length* const length = LengthOf(work);
  if (length->was_shared || !length->shared.known()) length->shared.Add(work, ns);
  length->was_shared = true;
}

}  // namespace eipc
