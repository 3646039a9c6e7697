#include "sim/dynamics/contact_ahead.h"

#include <algorithm>
#include <iterator>

#include "sim/collision/pair_dhat.h"

namespace eipc {
namespace {

// A full-space grasp takes half of the symbolic factorizations with it, and 0.4 of them with 0.3; with more, zeros in the factor
// cost more than that saves.
constexpr double kAhead = 0.2;

}  // namespace

bool ContactAhead::Pays(const Model& model) {
  constexpr int32_t kLeastNodes = 256;
  const bool fine = model.surface.vertex_count > 2 * int64_t{model.node_count};
  return model.solver.linear_solver == LinearSolverKind::kCholesky && model.node_count >= kLeastNodes && !fine;
}

ContactAhead::ContactAhead(const Model* model, SurfaceState* surface)
    : surface_(surface),
      ahead_(kAhead * model->contact.dhat_m),
      node_body_(model->node_count, -1),
      vertices_(model->surface.vertex_count) {
  const std::vector<std::vector<int32_t>>& nodes = model->summaries.body_nodes;
  for (size_t body = 0; body < nodes.size(); ++body) {
    for (const int32_t n : nodes[body]) node_body_[n] = static_cast<int32_t>(body);
  }
}

void ContactAhead::FindBodies(const NodePairs& pairs) {
  bodies_.clear();
  for (const auto& [m, n] : pairs) {
    const std::pair<int32_t, int32_t> bodies = std::minmax(node_body_[m], node_body_[n]);
    if (bodies.first < 0 || bodies.first == bodies.second) continue;
    if (bodies_.empty() || bodies_.back() != bodies) bodies_.push_back(bodies);
  }
  std::sort(bodies_.begin(), bodies_.end());
  bodies_.erase(std::unique(bodies_.begin(), bodies_.end()), bodies_.end());
}

// Fine surfaces that touch all over, or rest next to dhat, are near each other in many places. More pairs than there are nodes cost
// the factor more than they save, a fifth of the time with two light plates; and where one point makes that many new ones, the next
// one will make others.
void ContactAhead::Append(const BlockMatrix* present, NodePairs* pairs) {
  const size_t most = node_body_.size();
  SortPairs(pairs);
  if (present != nullptr && pairs->size() > most) return;
  FindBodies(*pairs);
  if (bodies_.empty()) return;
  candidates_.clear();
  for (const auto& [a, b] : bodies_) surface_->broad_phase().FindAhead(a, b, surface_->q(), ahead_, &candidates_);
  vertices_.Clear();
  for (const Candidate& c : candidates_) vertices_.AddAll(c.v);
  surface_->Place(vertices_.list());
  FindNear(present);
  SortPairs(&near_);
  std::set_difference(near_.begin(), near_.end(), pairs->begin(), pairs->end(), std::back_inserter(added_));
  if (added_.size() <= most) pairs->insert(pairs->end(), added_.begin(), added_.end());
  added_.clear();
}

void ContactAhead::FindNear(const BlockMatrix* present) {
  // Each smaller node first.
  const auto missing = [present](const auto& pair) { return present == nullptr || present->Find(pair.second, pair.first) < 0; };
  near_.clear();
  for (const Candidate& c : candidates_) {
    const double within = c.reach() + ahead_;
    if (PairClosest(c.kind, c.v, surface_->x()).distance2 >= within * within) continue;
    of_candidate_.clear();
    surface_->map().AppendNodePairs(c.v, &of_candidate_);
    std::copy_if(of_candidate_.begin(), of_candidate_.end(), std::back_inserter(near_), missing);
  }
}

}  // namespace eipc
