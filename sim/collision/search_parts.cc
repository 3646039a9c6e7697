#include "sim/collision/search_parts.h"

#include <algorithm>

namespace eipc {
namespace {

// A search that takes no more of the time of all of them ends no later than the others do, when the longest begin first.
constexpr int kSharesOfAThread = 4;

}  // namespace

void SearchParts::Begin(int64_t node_pairs) {
  parts_.clear();
  cuts_.clear();
  for (const auto& scratch : threads_->scratches()) scratch->found.Clear();
  fair_ = node_pairs / (kSharesOfAThread * threads_->pool()->MostAtOnce());
}

// Parts are uneven, since what is near is below few of the nodes.
size_t SearchParts::PartsOf(int64_t node_pairs) const {
  constexpr int64_t kNodePairs = 256;  // of a part: some 50 us
  constexpr int64_t kMost = 128;
  if (!threads_->Shares(2) || node_pairs <= fair_) return 1;
  return static_cast<size_t>(std::clamp<int64_t>(node_pairs / kNodePairs, 1, kMost));
}

void SearchParts::Add(RegionBoxes* boxes, BodyPair* pair) {
  const size_t wanted = PartsOf(pair->node_pairs);
  if (wanted < 2) {
    parts_.push_back({.kind = Kind::kWhole, .boxes = boxes, .pair = pair});
    return;
  }
  Cut cut{.pair = pair, .first = parts_.size()};
  search_->Split(boxes, *pair, wanted, &from_, &next_, &cut.node_pairs);
  for (const RestingSearch::NodePair& from : from_)
    parts_.push_back({.kind = Kind::kBelow, .boxes = boxes, .pair = pair, .from = from});
  if (search_->HasNeighbours(*pair)) parts_.push_back({.kind = Kind::kNeighbours, .boxes = boxes, .pair = pair});
  cut.last = parts_.size();
  cuts_.push_back(cut);
}

void SearchParts::SetOrder() {
  order_.clear();
  for (const bool neighbours : {true, false}) {
    for (size_t k = 0; k < parts_.size(); ++k) {
      if ((parts_[k].kind == Kind::kNeighbours) == neighbours) order_.push_back(k);
    }
  }
}

void SearchParts::Search(SearchScratch* scratch, Part* part) {
  if (part->kind == Kind::kWhole) {
    part->complete = search_->Search(part->boxes, part->pair, scratch);
    return;
  }
  const RestingSearch::Job of{part->boxes, part->pair, &scratch->found};
  part->found = of.found;
  part->begin = part->end = of.found->extent();
  if (part->kind == Kind::kBelow) {
    part->complete = search_->SearchBelow(of, part->from, scratch, &part->node_pairs);
  } else if (!scratch->poll.Stop(0)) {
    search_->AddNeighbours(of, scratch);
    part->complete = true;
  }
  part->end = of.found->extent();
}

bool SearchParts::Join(const Cut& cut) const {
  BodyPair* const pair = cut.pair;
  pair->node_pairs = cut.node_pairs;
  bool complete = true;
  for (size_t k = cut.first; k < cut.last; ++k) {
    const Part& part = parts_[k];
    pair->node_pairs += part.node_pairs;
    complete = complete && part.complete;
    if (part.found != nullptr) pair->found.Append(*part.found, part.begin, part.end);
  }
  return complete;
}

}  // namespace eipc
