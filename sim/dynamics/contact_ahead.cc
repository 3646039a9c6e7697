#include "sim/dynamics/contact_ahead.h"

#include <algorithm>
#include <iterator>

#include "sim/collision/pair_dhat.h"

namespace eipc {
namespace {

// A full-space grasp takes half of the symbolic factorizations with it, and 0.4 of them with 0.3; with more, zeros in the factor
// cost more than that saves.
constexpr double kAhead = 0.2;
// Times the contacts of two bodies. Where contact spreads or slides, one to three times as many features are near as touch.
// Surfaces that rest next to dhat, or slide there on a few high places, are near each other all over and hardly touch: their
// couplings would cost the factor up to twice the time of the whole step.
constexpr int64_t kMostNear = 6;

}  // namespace

bool ContactAhead::Pays(const Model& model) {
  constexpr int32_t kLeastNodes = 256;
  const bool fine = model.surface.vertex_count > 2 * int64_t{model.node_count};
  return model.solver.linear_solver == LinearSolverKind::kCholesky && model.node_count >= kLeastNodes && !fine;
}

ContactAhead::ContactAhead(const Model* model, SurfaceState* surface)
    : model_(model),
      surface_(surface),
      ahead_(kAhead * model->contact.dhat_m),
      node_body_(model->node_count, -1),
      vertices_(model->surface.vertex_count) {
  const std::vector<std::vector<int32_t>>& nodes = model->summaries.body_nodes;
  for (size_t body = 0; body < nodes.size(); ++body) {
    for (const int32_t n : nodes[body]) node_body_[n] = static_cast<int32_t>(body);
  }
}

void ContactAhead::FindMeetings(const NodePairs& pairs) {
  meetings_.clear();
  for (const auto& [m, n] : pairs) {
    const std::pair<int32_t, int32_t> bodies = std::minmax(node_body_[m], node_body_[n]);
    if (bodies.first < 0 || bodies.first == bodies.second) continue;
    if (meetings_.empty() || meetings_.back().bodies != bodies) meetings_.push_back({bodies});
  }
  std::sort(meetings_.begin(), meetings_.end(), [](const Meeting& a, const Meeting& b) { return a.bodies < b.bodies; });
  const auto same = [](const Meeting& a, const Meeting& b) { return a.bodies == b.bodies; };
  meetings_.erase(std::unique(meetings_.begin(), meetings_.end(), same), meetings_.end());
}

void ContactAhead::CountContacts(const std::vector<ContactStencil>& contacts) {
  const std::vector<int32_t>& body = model_->surface.vertex_body;
  for (const ContactStencil& s : contacts) {
    const std::pair<int32_t, int32_t> bodies = std::minmax(body[s.v[0]], body[s.v[2]]);
    const auto found = std::lower_bound(meetings_.begin(), meetings_.end(), bodies,
                                        [](const Meeting& m, const std::pair<int32_t, int32_t>& b) { return m.bodies < b; });
    if (found != meetings_.end() && found->bodies == bodies) ++found->contacts;
  }
}

void ContactAhead::Append(const std::vector<ContactStencil>& contacts, const BlockMatrix* present, NodePairs* pairs) {
  SortPairs(pairs);
  FindMeetings(*pairs);
  CountContacts(contacts);
  near_.clear();
  added_.clear();
  for (const Meeting& meeting : meetings_) FindNear(meeting, present);
  SortPairs(&near_);
  std::set_difference(near_.begin(), near_.end(), pairs->begin(), pairs->end(), std::back_inserter(added_));
  pairs->insert(pairs->end(), added_.begin(), added_.end());
}

void ContactAhead::FindNear(const Meeting& meeting, const BlockMatrix* present) {
  if (meeting.contacts == 0) return;
  const size_t before = near_.size();
  int64_t may_be_near = kMostNear * meeting.contacts;
  const auto take = [&](const std::vector<Candidate>& part) { return (may_be_near -= TakeNear(part, present)) >= 0; };
  const auto [a, b] = meeting.bodies;
  if (!surface_->broad_phase().FindAhead(a, b, surface_->q(), ahead_, take)) near_.resize(before);
}

int64_t ContactAhead::TakeNear(const std::vector<Candidate>& candidates, const BlockMatrix* present) {
  // Each smaller node first.
  const auto missing = [present](const auto& pair) { return present == nullptr || present->Find(pair.second, pair.first) < 0; };
  vertices_.Clear();
  for (const Candidate& c : candidates) vertices_.AddAll(c.v);
  surface_->Place(vertices_.list());
  int64_t near = 0;
  for (const Candidate& c : candidates) {
    const double within = c.reach() + ahead_;
    if (PairClosest(c.kind, c.v, surface_->x()).distance2 >= within * within) continue;
    ++near;
    of_candidate_.clear();
    surface_->map().AppendNodePairs(c.v, &of_candidate_);
    std::copy_if(of_candidate_.begin(), of_candidate_.end(), std::back_inserter(near_), missing);
  }
  return near;
}

}  // namespace eipc
