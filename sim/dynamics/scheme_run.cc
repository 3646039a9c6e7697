#include "sim/dynamics/scheme_run.h"

#include <cstddef>

#include "sim/dynamics/integrators.h"

namespace eipc {

void SchemeRun::Begin(const Scheme& scheme, double dt_s, const SchemeState& start, absl::Span<const SchemeState> past) {
  scheme_ = &scheme;
  dt_s_ = dt_s;
  start_ = start;
  past_ = past;
  index_ = 0;
  first_ = scheme.rows[0];
  if (scheme.history == 1) first_ = Bdf2Row(past.empty() || !(past[0].dt_s > 0) ? 0 : dt_s / past[0].dt_s);
  if (scheme.history > 1 && static_cast<int>(past.size()) < scheme.history) first_ = Bdf2Row(0);
}

void SchemeRun::Combine(const WeightedSum& from, int rows, VecX* q, VecX* v) const {
  if (from.past[0] == 1) {
    *q = *start_.q;
    *v = *start_.v;
  } else {
    *q = from.past[0] * *start_.q;
    *v = from.past[0] * *start_.v;
  }
  for (int j = 1; j < kMaxHistory; ++j) {
    if (from.past[j] == 0) continue;
    *q += from.past[j] * *past_[j - 1].q;
    *v += from.past[j] * *past_[j - 1].v;
  }
  for (int l = 0; l < rows; ++l) {
    if (from.rows[l] != 0) {
      *q += from.rows[l] * (points_[l].q - *start_.q);
      *v += from.rows[l] * (points_[l].v - *start_.v);
    }
    if (from.speeds[l] != 0) *q += (from.speeds[l] * dt_s_) * points_[l].v;
    if (from.forces[l] != 0) *v += (from.forces[l] * dt_s_) * points_[l].a;
  }
}

void SchemeRun::Prepare(SchemePoint* point) const {
  point->row = index_ == 0 ? first_ : scheme_->rows[index_];
  Combine(point->row.from, index_, &point->q_hat, &point->v_hat);
}

void SchemeRun::Accept(const VecX& q, const VecX& v) {
  points_[index_].q = q;
  points_[index_].v = v;
  ++index_;
}

bool SchemeRun::NeedsForce() const {
  const int row = index_ - 1;
  for (int i = index_; i < scheme_->row_count; ++i) {
    if (scheme_->rows[i].from.forces[row] != 0) return true;
  }
  return scheme_->ends_beyond && scheme_->end.forces[row] != 0;
}

void SchemeRun::End(VecX* q, VecX* v) const {
  if (scheme_->ends_beyond) return Combine(scheme_->end, scheme_->row_count, q, v);
  *q = points_[scheme_->row_count - 1].q;
  *v = points_[scheme_->row_count - 1].v;
}

}  // namespace eipc
