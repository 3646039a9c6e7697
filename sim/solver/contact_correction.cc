#include "sim/solver/contact_correction.h"

#include <algorithm>
#include <cmath>

namespace eipc {
namespace {

using Force = std::function<double(const MetContact&, double)>;

// The mu of one contact: (1 - w s) mu + rest = force(gap + s mu), with the opening s = a . z > 0.
double SolveOne(const MetContact& contact, const Force& force, double gap, double opening, double rest) {
  constexpr double kLeastGap = 1e-9, kLeastShare = 1e-6;
  constexpr int kHalvings = 16;  // in the gap's logarithm: to 3e-4
  const double share = std::max(kLeastShare, 1 - contact.stiffness * opening);
  const double without = -rest / share;
  if (gap + opening * without >= contact.dhat) return without;
  double below = std::log(kLeastGap), above = 0;  // of gap / dhat
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (below + above), there = contact.dhat * std::exp(middle);
    (share * (there - gap) / opening + rest > force(contact, there) ? above : below) = middle;
  }
  return (contact.dhat * std::exp(0.5 * (below + above)) - gap) / opening;
}

}  // namespace

void ContactCorrection::Begin(const VecX& direction) {
  direction_ = direction;
  contacts_.Clear();
  known_ = 0;
}

bool ContactCorrection::Respond(const std::function<bool(VecX*)>& solve) {
  if (responses_.size() < contacts_.size()) responses_.resize(contacts_.size());
  for (; known_ < contacts_.size(); ++known_) {
    Response& response = responses_[known_];
    response.z = contacts_[known_].gradient;
    if (!solve(&response.z)) return false;
    response.along = contacts_[known_].gradient.dot(direction_);
    response.mu = 0;
  }
  const size_t n = contacts_.size();
  opening_.resize(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) opening_[i * n + j] = contacts_[i].gradient.dot(responses_[j].z);
  }
  return true;
}

// What opens the gap of contact i without its own mu.
double ContactCorrection::Others(size_t i) const {
  const size_t n = contacts_.size();
  double sum = responses_[i].along;
  for (size_t j = 0; j < n; ++j) {
    if (j != i) sum += opening_[i * n + j] * responses_[j].mu;
  }
  return sum;
}

void ContactCorrection::Correct(const Force& force, VecX* direction) {
  constexpr int kMostSweeps = 50;
  constexpr double kClose = 1e-3;
  const size_t n = contacts_.size();
  bool changes = true;
  for (int sweep = 0; changes && sweep < kMostSweeps; ++sweep) {
    changes = false;
    for (size_t i = 0; i < n; ++i) {
      const double opening = opening_[i * n + i];
      if (!(opening > 0)) continue;  // nothing free is moved by it
      const MetContact& contact = contacts_[i];
      const double others = Others(i), rest = contact.force - contact.stiffness * others;
      const double mu = SolveOne(contact, force, contact.gap + others, opening, rest);
      changes = changes || std::abs(mu - responses_[i].mu) > kClose * std::abs(mu);
      responses_[i].mu = mu;
    }
  }
  *direction = direction_;
  for (size_t i = 0; i < n; ++i) *direction += responses_[i].mu * responses_[i].z;
}

}  // namespace eipc
