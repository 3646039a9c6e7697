#include "sim/contact/contact_set.h"

#include <algorithm>
#include <cmath>

#include "sim/collision/pair_dhat.h"

namespace eipc {
namespace {

constexpr int64_t kChunk = 512;

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
  if (static_cast<int64_t>(chunks_.size()) < chunks) chunks_.resize(chunks);
  pool->ParallelFor(chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk) {
      Chunk& part = chunks_[chunk];
      part.found.clear();
      part.prescribed.clear();
      part.nearest = {};
      if (Raised(interrupt)) continue;
      for (int64_t i = chunk * kChunk; i < std::min(n, (chunk + 1) * kChunk); ++i) {
        const Candidate& candidate = candidates[among == nullptr ? i : (*among)[i]];
        if (travel != nullptr && StaysApart(candidate, *travel, candidate.reach())) continue;
        ContactStencil stencil;
        if (!MakeStencil(candidate, x, &stencil, &part.nearest)) continue;
        (stencil.weight == 0 ? part.prescribed : part.found).push_back(stencil);
      }
    }
  });
  nearest_ = {};
  for (int64_t chunk = 0; chunk < chunks; ++chunk) nearest_.Include(chunks_[chunk].nearest);
  Join(chunks, &Chunk::prescribed, pool, &prescribed_pairs_);
  if (settings_.form != BarrierForm::kAreaWeighted) return Join(chunks, &Chunk::found, pool, &stencils_);
  Join(chunks, &Chunk::found, pool, &all_stencils_);
  KeepNearestFeatures(x, pool);
}

// One list after the other.
void ContactSet::Join(int64_t chunks, std::vector<ContactStencil> Chunk::*list, ThreadPool* pool,
                      std::vector<ContactStencil>* out) {
  constexpr int64_t kAtOnce = 4;
  size_t count = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    chunks_[chunk].place = count;
    count += (chunks_[chunk].*list).size();
  }
  out->resize(count);
  pool->ParallelFor(chunks, kAtOnce, [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk) {
      const std::vector<ContactStencil>& part = chunks_[chunk].*list;
      std::copy(part.begin(), part.end(), out->begin() + static_cast<std::ptrdiff_t>(chunks_[chunk].place));
    }
  });
}

bool ContactSet::MakeStencil(const Candidate& c, const std::vector<Vec3>& x, ContactStencil* out, Nearest* nearest) const {
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
  nearest->Include({out->distance, out->gap()});
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
bool ContactSet::Counts(const ContactStencil& s) const {
  return s.kind == ContactKind::kPointTriangle && s.dhat == settings_.dhat_m;
}

void ContactSet::KeepNearestFeatures(const std::vector<Vec3>& x, ThreadPool* pool) {
  constexpr int64_t kStencils = 256;  // of a chunk
  by_point_.clear();
  for (size_t i = 0; i < all_stencils_.size(); ++i) {
    const ContactStencil& s = all_stencils_[i];
    if (Counts(s)) by_point_.push_back({s.v[0], s.body_b, static_cast<int32_t>(i)});
  }
  std::sort(by_point_.begin(), by_point_.end());
  const int64_t n = static_cast<int64_t>(all_stencils_.size()), chunks = (n + kStencils - 1) / kStencils;
  if (static_cast<int64_t>(chunks_.size()) < chunks) chunks_.resize(chunks);
  pool->ParallelFor(chunks, 1, [&](int64_t first, int64_t last) {
    for (int64_t chunk = first; chunk < last; ++chunk) {
      chunks_[chunk].kept.clear();
      for (int64_t i = chunk * kStencils; i < std::min(n, (chunk + 1) * kStencils); ++i) KeepOf(i, x, &chunks_[chunk]);
    }
  });
  Join(chunks, &Chunk::kept, pool, &stencils_);
}

// Of the triangles that a point is near, all features where the first of them was.
void ContactSet::KeepOf(size_t i, const std::vector<Vec3>& x, Chunk* out) const {
  const ContactStencil& s = all_stencils_[i];
  if (!Counts(s)) return out->kept.push_back(s);
  auto it = std::lower_bound(by_point_.begin(), by_point_.end(), std::array<int32_t, 3>{s.v[0], s.body_b, -1});
  if ((*it)[2] != static_cast<int32_t>(i)) return;
  out->hits.clear();
  for (; it != by_point_.end() && (*it)[0] == s.v[0] && (*it)[1] == s.body_b; ++it) out->hits.push_back(all_stencils_[(*it)[2]]);
  out->features.Append(out->hits, x, &out->kept);
}

}  // namespace eipc
