#include "sim/linalg/minimum_fill.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace eipc {
namespace {

// Nodes with more neighbours, hubs, come last and are left out until then, since every elimination near one would go through its
// list. They are coupled to nearly all that is left soon. What is eliminated before knows nothing of where it is coupled to them.
// Many nodes just below this may still take as many steps as pairs times this number.
int32_t ManyNeighbours(int32_t nodes) { return std::max(500, static_cast<int32_t>(10 * std::sqrt(static_cast<double>(nodes)))); }

int64_t Pairs(int64_t count) { return count * (count - 1) / 2; }

// The new pairs for each of the nodes that are eliminated together, and a tenth of the neighbours, which decide where no pairs are
// new. The two that are added keep large groups from coming too early. Chosen by the operations of the factor for patterns of
// grasps, cloth, rods and grids: with none to six added, shares of the neighbours of 0 to 5, and other shares of what is coupled
// (Prune) they are some percent more.
float Key(int64_t new_pairs, int64_t degree, int32_t weight) {
  return static_cast<float>(10 * new_pairs + degree) / static_cast<float>(weight + 2);
}

}  // namespace

void MinimumFill::Order(const std::vector<int32_t>& start, const std::vector<int32_t>& neighbours, const std::vector<uint8_t>& late,
                        std::vector<int32_t>* order) {
  start_ = &start;
  neighbours_ = &neighbours;
  order_ = order;
  order_->clear();
  Begin(late);
  while (left_ > 0) Eliminate(Next());
}

std::span<const int32_t> MinimumFill::NeighboursOf(int32_t node) const {
  return {neighbours_->data() + (*start_)[node], neighbours_->data() + (*start_)[node + 1]};
}

int32_t MinimumFill::ListedSince(int64_t first) const { return static_cast<int32_t>(static_cast<int64_t>(lists_.size()) - first); }

// All but the hubs, in the graph without those.
void MinimumFill::Begin(const std::vector<uint8_t>& late) {
  const auto n = static_cast<int32_t>(start_->size()) - 1;
  left_ = n;
  level_ = 0;
  since_ = 0;
  comparison_ = 0;
  lists_.clear();
  nodes_.assign(n, Node());
  keys_.resize(n);
  seen_.assign(n, 0);
  bucket_.assign(std::bit_ceil(static_cast<uint32_t>(n)), -1);
  same_bucket_.resize(n);
  least_.Reset(n);
  for (int32_t i = 0; i < n; ++i) {
    nodes_[i].last = i;
    const bool is_hub = static_cast<int32_t>(NeighboursOf(i).size()) > ManyNeighbours(n);
    nodes_[i].level = is_hub ? kHub : late[i] != 0 ? kLate : 0;
  }
  for (int32_t i = 0; i < n; ++i) {
    if (nodes_[i].level == kHub) continue;
    Node& node = nodes_[i];
    node.first = static_cast<int64_t>(lists_.size());
    for (const int32_t other : NeighboursOf(i)) {
      if (nodes_[other].level != kHub) lists_.push_back(other);
    }
    node.length = node.degree = ListedSince(node.first);
    Offer(i, Key(Pairs(node.degree), node.degree, 1));
  }
}

// The hubs, when all else is eliminated: they are coupled by the connected parts of that, and to each other.
void MinimumFill::BeginHubs() {
  const auto n = static_cast<int32_t>(nodes_.size());
  lists_.clear();
  for (Node& node : nodes_) node.clique_of = -1;
  for (int32_t i = 0; i < n; ++i) {
    if (nodes_[i].level != kHub) continue;
    for (const int32_t other : NeighboursOf(i)) {
      if (nodes_[other].level != kHub && nodes_[other].clique_of < 0) MakeElementOfPart(other);
    }
  }
  for (int32_t i = 0; i < n; ++i) {
    if (nodes_[i].level == kHub) ListHub(i);
  }
}

// Its clique is what is added to the lists from here on.
MinimumFill::Node& MinimumFill::BeginElement(int32_t node) {
  Node& element = nodes_[node];
  element.kind = Kind::kElement;
  element.first = static_cast<int64_t>(lists_.size());
  element.elements = 0;
  return element;
}

// In the place of a part, from its node `root` on: the hubs that it is coupled to.
void MinimumFill::MakeElementOfPart(int32_t root) {
  Node& element = BeginElement(root);
  element.clique_of = root;
  ++comparison_;
  variables_.assign(1, root);
  while (!variables_.empty()) {
    const int32_t node = variables_.back();
    variables_.pop_back();
    for (const int32_t other : NeighboursOf(node)) {
      if (nodes_[other].level == kHub) {
        if (seen_[other] != comparison_) lists_.push_back(other);
        seen_[other] = comparison_;
      } else if (nodes_[other].clique_of < 0) {
        nodes_[other].clique_of = root;
        variables_.push_back(other);
      }
    }
  }
  element.length = element.degree = ListedSince(element.first);
}

void MinimumFill::ListHub(int32_t hub) {
  Node& node = nodes_[hub];
  node.first = static_cast<int64_t>(lists_.size());
  ++comparison_;
  int64_t degree = 0, coupled = 0;  // coupled: pairs within one part
  for (const int32_t other : NeighboursOf(hub)) {
    if (nodes_[other].level == kHub) continue;
    const int32_t root = nodes_[other].clique_of;
    if (seen_[root] == comparison_) continue;
    seen_[root] = comparison_;
    lists_.push_back(root);
    degree += nodes_[root].degree - 1;
    coupled += Pairs(nodes_[root].degree - 1);
  }
  node.elements = ListedSince(node.first);
  for (const int32_t other : NeighboursOf(hub)) {
    if (nodes_[other].level == kHub) lists_.push_back(other);
  }
  node.length = ListedSince(node.first);
  node.degree = static_cast<int32_t>(std::min<int64_t>(degree + node.length - node.elements, left_ - 1));
  Offer(hub, Key(std::max<int64_t>(Pairs(node.degree) - coupled, 0), node.degree, 1));
}

void MinimumFill::Offer(int32_t node, float key) {
  if (nodes_[node].level <= level_) return least_.Set(node, key);
  keys_[node] = key;
}

int32_t MinimumFill::Next() {
  while (least_.empty()) {
    if (++level_ == kHub) {
      BeginHubs();
      continue;
    }
    for (int32_t i = 0; i < static_cast<int32_t>(nodes_.size()); ++i) {
      if (nodes_[i].kind == Kind::kVariable && nodes_[i].level == level_) least_.Set(i, keys_[i]);
    }
  }
  return least_.Pop();
}

void MinimumFill::Append(int32_t node) {
  for (int32_t i = node; i >= 0; i = nodes_[i].merged) order_->push_back(i);
  left_ -= nodes_[node].weight;
  nodes_[node].kind = Kind::kGone;
  least_.Remove(node);
}

void MinimumFill::Eliminate(int32_t pivot) {
  FindClique(pivot);
  Append(pivot);
  CountOutside();
  for (Member& member : clique_) Prune(pivot, &member);
  std::erase_if(clique_, [this](const Member& member) { return nodes_[member.node].kind == Kind::kGone; });
  MergeAlike();
  Close(pivot);
}

// Its variables and those of its elements, which go: the new element stands for them.
void MinimumFill::FindClique(int32_t pivot) {
  nodes_[pivot].clique_of = pivot;
  clique_.clear();
  clique_weight_ = 0;
  const auto take = [&](const int32_t* list, int32_t length) {
    for (int32_t k = 0; k < length; ++k) {
      Node& node = nodes_[list[k]];
      if (node.kind != Kind::kVariable || node.clique_of == pivot) continue;
      node.clique_of = pivot;
      clique_.push_back({.node = list[k]});
      clique_weight_ += node.weight;
    }
  };
  const Node& node = nodes_[pivot];
  const int32_t* list = lists_.data() + node.first;
  for (int32_t k = 0; k < node.elements; ++k) {
    Node& element = nodes_[list[k]];
    if (element.kind != Kind::kElement) continue;
    take(lists_.data() + element.first, element.length);
    element.kind = Kind::kGone;
  }
  take(list + node.elements, node.length - node.elements);
}

void MinimumFill::CountOutside() {
  since_ += static_cast<int64_t>(nodes_.size()) + 1;
  for (const Member& member : clique_) {
    const Node& node = nodes_[member.node];
    for (int64_t k = node.first; k < node.first + node.elements; ++k) {
      Node& element = nodes_[lists_[k]];
      element.outside = (element.outside < since_ ? since_ + element.degree : element.outside) - node.weight;
    }
  }
}

// Writes the list of a member anew: without what is gone, without variables of the clique, with the pivot as an element. Elements
// that lie within the clique go; a member that has no other neighbours is eliminated at once. Pairs that an element has coupled
// count for each element that has; of those with one node in the clique, where elements meet, a quarter counts.
void MinimumFill::Prune(int32_t pivot, Member* member) {
  Node& node = nodes_[member->node];
  int32_t* const list = lists_.data() + node.first;
  int32_t kept = 0;
  auto hash = static_cast<uint32_t>(pivot);
  int64_t outside = 0, coupled = 0;
  for (int32_t k = 0; k < node.elements; ++k) {
    const int32_t e = list[k];
    Node& element = nodes_[e];
    if (element.kind != Kind::kElement) continue;
    const int64_t beyond = element.outside - since_;
    if (beyond == 0) {
      element.kind = Kind::kGone;
      continue;
    }
    outside += beyond;
    coupled += Pairs(beyond) + beyond * (element.degree - beyond - node.weight) / 4;
    hash += static_cast<uint32_t>(e);
    list[kept++] = e;
  }
  variables_.clear();
  for (int32_t k = node.elements; k < node.length; ++k) {
    const int32_t i = list[k];
    const Node& other = nodes_[i];
    if (other.kind != Kind::kVariable || other.clique_of == pivot) continue;
    outside += other.weight;
    hash += static_cast<uint32_t>(i);
    variables_.push_back(i);
  }
  if (outside == 0 && node.level <= level_) {
    clique_weight_ -= node.weight;
    return Append(member->node);
  }
  *member = {.node = member->node, .outside = static_cast<int32_t>(outside), .coupled = coupled};
  list[kept++] = pivot;  // at least one has gone: the pivot, or an element of it
  std::copy(variables_.begin(), variables_.end(), list + kept);
  node.elements = kept;
  node.length = kept + static_cast<int32_t>(variables_.size());
  node.hash = hash;
}

// Members with equal neighbours are merged. Only those whose lists have one sum are compared.
void MinimumFill::MergeAlike() {
  const auto mask = static_cast<uint32_t>(bucket_.size() - 1);
  for (const Member& member : clique_) {
    int32_t& first = bucket_[nodes_[member.node].hash & mask];
    same_bucket_[member.node] = first;
    first = member.node;
  }
  for (const Member& member : clique_) {
    int32_t a = -1;
    std::swap(a, bucket_[nodes_[member.node].hash & mask]);
    for (; a >= 0; a = same_bucket_[a]) {
      if (nodes_[a].kind == Kind::kVariable && same_bucket_[a] >= 0) MergeInto(a, same_bucket_[a]);
    }
  }
}

// Those from `same` on in the bucket that are like the node.
void MinimumFill::MergeInto(int32_t into, int32_t same) {
  Node& node = nodes_[into];
  bool listed = false;
  for (int32_t i = same; i >= 0; i = same_bucket_[i]) {
    Node& other = nodes_[i];
    const bool likely = other.hash == node.hash && other.length == node.length && other.elements == node.elements;
    if (!likely || other.kind != Kind::kVariable || other.level != node.level) continue;
    if (!listed) {
      ++comparison_;
      for (int64_t k = node.first; k < node.first + node.length; ++k) seen_[lists_[k]] = comparison_;
      listed = true;
    }
    const auto list = lists_.begin() + other.first;
    if (!std::all_of(list, list + other.length, [this](int32_t k) { return seen_[k] == comparison_; })) continue;
    node.weight += other.weight;
    nodes_[node.last].merged = i;
    node.last = other.last;
    other.kind = Kind::kGone;
    least_.Remove(i);
  }
}

// The pivot is an element from here on, at the end of the lists.
void MinimumFill::Close(int32_t pivot) {
  Node& element = BeginElement(pivot);
  element.degree = clique_weight_;
  for (const Member& member : clique_) {
    Node& node = nodes_[member.node];
    if (node.kind != Kind::kVariable) continue;
    lists_.push_back(member.node);
    const int32_t inside = clique_weight_ - node.weight;
    node.degree = std::min({left_ - node.weight, node.degree + inside, member.outside + inside});
    const int64_t outside = node.degree - inside;
    const int64_t pairs = Pairs(outside) + outside * inside - member.coupled;
    Offer(member.node, Key(std::max<int64_t>(pairs, 0), node.degree, node.weight));
  }
  element.length = ListedSince(element.first);
}

}  // namespace eipc
