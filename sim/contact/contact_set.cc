#include "sim/contact/contact_set.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/collision/pair_dhat.h"
#include "sim/contact/nearest_features.h"

namespace eipc {
namespace {

constexpr int64_t kChunk = 512;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Squared distance between the bounding boxes of the two sides: a cheap lower bound.
double BoxDistance2(const Candidate& c, const std::vector<Vec3>& x) {
  const Vec3 &p0 = x[c.v[0]], &p1 = x[c.v[1]], &p2 = x[c.v[2]], &p3 = x[c.v[3]];
  Eigen::Array3d lo_a = p0.array(), hi_a = p0.array(), lo_b = p2.array().min(p3.array()), hi_b = p2.array().max(p3.array());
  if (c.kind == ContactKind::kPointTriangle) {
    lo_b = lo_b.min(p1.array());
    hi_b = hi_b.max(p1.array());
  } else {
    lo_a = lo_a.min(p1.array());
    hi_a = hi_a.max(p1.array());
  }
  return (lo_a - hi_b).max(lo_b - hi_a).max(0.0).square().sum();
}

}  // namespace

void ContactSet::Update(const std::vector<Candidate>& candidates, const std::vector<Vec3>& x, ThreadPool* pool,
                        const DisplacementBounds* travel, Interrupt* interrupt) {
  const std::vector<int32_t>* among = travel == nullptr ? nullptr : travel->among;
  const int64_t n = static_cast<int64_t>(among == nullptr ? candidates.size() : among->size());
  const int64_t chunks = (n + kChunk - 1) / kChunk;
  if (static_cast<int64_t>(chunk_stencils_.size()) < chunks) chunk_stencils_.resize(chunks);
  chunk_min_.assign(chunks, kInfinity);
  pool->ParallelFor(chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk) {
      chunk_stencils_[chunk].clear();
      if (Raised(interrupt)) continue;
      for (int64_t i = chunk * kChunk; i < std::min(n, (chunk + 1) * kChunk); ++i) {
        const Candidate& candidate = candidates[among == nullptr ? i : (*among)[i]];
        if (travel != nullptr && StaysApart(candidate, *travel, candidate.reach())) continue;
        ContactStencil stencil;
        double distance = kInfinity;
        if (MakeStencil(candidate, x, &stencil, &distance)) chunk_stencils_[chunk].push_back(stencil);
        chunk_min_[chunk] = std::min(chunk_min_[chunk], distance);
      }
    }
  });
  stencils_.clear();
  prescribed_pairs_.clear();
  min_distance_ = kInfinity;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    for (const ContactStencil& s : chunk_stencils_[chunk]) (s.weight == 0 ? prescribed_pairs_ : stencils_).push_back(s);
    min_distance_ = std::min(min_distance_, chunk_min_[chunk]);
  }
  if (settings_.form == BarrierForm::kAreaWeighted) KeepNearestFeatures(x);
}

bool ContactSet::MakeStencil(const Candidate& c, const std::vector<Vec3>& x, ContactStencil* out, double* distance) const {
  const double reach = c.reach();
  if (BoxDistance2(c, x) >= reach * reach) return false;
  out->closest = PairClosest(c.kind, c.v, x);
  if (!(out->closest.distance2 < reach * reach)) return false;
  out->v = c.v;
  out->kind = c.kind;
  out->distance = std::sqrt(out->closest.distance2);
  out->body_a = surface_->vertex_body[c.v[0]];
  out->body_b = surface_->vertex_body[c.v[2]];
  out->dhat = c.dhat;
  out->offset = c.offset;
  if (out->gap() >= out->dhat) return false;
  *distance = out->distance;
  const bool reacts = surface_->Reacts(out->body_a, out->body_b);
  out->weight = !reacts ? 0.0 : settings_.form == BarrierForm::kPerPair ? 1.0 : PairWeight(c);
  if (reacts && out->weight == 0) return false;
  // Li et al. 2020, eq. 24: the mollifier acts where the sine of the angle is below about 0.03 of the rest configuration.
  out->mollifier2 =
      c.kind == ContactKind::kEdgeEdge ? 1e-3 * surface_->edge_rest_length2[c.first] * surface_->edge_rest_length2[c.second] : 0.0;
  return true;
}

double ContactSet::PairWeight(const Candidate& c) const {
  if (c.kind == ContactKind::kPointTriangle) return weights_->Point(*surface_, c.v[0], surface_->vertex_body[c.v[1]]);
  return weights_->EdgePair(*surface_, c.first, c.second, settings_.dhat_m);
}

// Pairs of one body whose dhat its shape cuts short stay as they are: cells with different dhat do not cancel.
void ContactSet::KeepNearestFeatures(const std::vector<Vec3>& x) {
  const auto counts = [this](const ContactStencil& s) {
    return s.kind == ContactKind::kPointTriangle && s.dhat == settings_.dhat_m;
  };
  all_stencils_.swap(stencils_);
  by_point_.clear();
  for (size_t i = 0; i < all_stencils_.size(); ++i) {
    const ContactStencil& s = all_stencils_[i];
    if (counts(s)) by_point_.push_back({s.v[0], s.body_b, static_cast<int32_t>(i)});
  }
  std::sort(by_point_.begin(), by_point_.end());
  stencils_.clear();
  for (size_t i = 0; i < all_stencils_.size(); ++i) {
    const ContactStencil& s = all_stencils_[i];
    if (!counts(s)) {
      stencils_.push_back(s);
      continue;
    }
    auto it = std::lower_bound(by_point_.begin(), by_point_.end(), std::array<int32_t, 3>{s.v[0], s.body_b, -1});
    if ((*it)[2] != static_cast<int32_t>(i)) continue;  // its features are there already
    hits_.clear();
    for (; it != by_point_.end() && (*it)[0] == s.v[0] && (*it)[1] == s.body_b; ++it) hits_.push_back(all_stencils_[(*it)[2]]);
    AppendNearestFeatures(hits_, x, &stencils_);
  }
}

}  // namespace eipc
