#ifndef EIPC_SIM_COLLISION_SEARCH_PARTS_H_
#define EIPC_SIM_COLLISION_SEARCH_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/collision/body_pair.h"
#include "sim/collision/region_boxes.h"
#include "sim/collision/resting_search.h"
#include "sim/collision/search_threads.h"

namespace eipc {

// Searches of pairs of bodies that threads share. Where there are few pairs, as in a grasp, one has most of the work; so those that
// took much of the time the last time are cut into parts (RestingSearch::Split). What they find does not depend on it.
class SearchParts {
 public:
  // Both outlive this.
  SearchParts(RestingSearch* search, SearchThreads* threads) : search_(search), threads_(threads) {}
  SearchParts(const SearchParts&) = delete;
  SearchParts& operator=(const SearchParts&) = delete;

  // For searches that examined this number of pairs of nodes together the last time.
  void Begin(int64_t node_pairs);
  // A search to make, of a pair without anything found, whose bodies' boxes are `boxes`. BodyPair::node_pairs is still that of the
  // last search.
  void Add(RegionBoxes* boxes, BodyPair* pair);
  // Makes all of them. Calls end(scratch, pair, complete) for each pair, by any thread; complete is false where the search was
  // interrupted. False where any was.
  template <typename End>
  bool Run(const End& end);

 private:
  enum class Kind : uint8_t { kWhole, kBelow, kNeighbours };
  struct Part {
    Kind kind = Kind::kWhole;
    RegionBoxes* boxes = nullptr;
    BodyPair* pair = nullptr;
    RestingSearch::NodePair from{0, 0};
    // Where what it has found is, among what its thread has.
    const PairLists* found = nullptr;
    PairLists::Extent begin, end;
    int64_t node_pairs = 0;
    bool complete = false;
  };
  // A pair whose search is cut, and its parts.
  struct Cut {
    BodyPair* pair = nullptr;
    size_t first = 0, last = 0;
    int64_t node_pairs = 0;  // that were examined to cut it
  };

  // How many parts a search is worth, by the number of pairs of nodes that it examined the last time.
  size_t PartsOf(int64_t node_pairs) const;
  // Of the parts of pairs that are cut, those about neighbouring triangles are the longest, and begin first.
  void SetOrder();
  void Search(SearchScratch* scratch, Part* part);
  // Gives the pair what its parts have found; whether all of them were complete.
  bool Join(const Cut& cut) const;

  RestingSearch* search_;
  SearchThreads* threads_;
  std::vector<Part> parts_;
  std::vector<Cut> cuts_;
  std::vector<size_t> order_;  // of parts_, in which they are begun
  int64_t fair_ = 0;           // pairs of nodes of a search that needs no cut
  std::vector<RestingSearch::NodePair> from_, next_;
};

template <typename End>
bool SearchParts::Run(const End& end) {
  SetOrder();
  threads_->ForEach(static_cast<int64_t>(parts_.size()), true, [&](SearchScratch* scratch, int64_t i) {
    Part* const part = &parts_[order_[i]];
    Search(scratch, part);
    if (part->kind == Kind::kWhole) end(scratch, part->pair, part->complete);
  });
  const bool complete = !threads_->stopped();
  if (cuts_.empty()) return complete;
  threads_->ForEach(static_cast<int64_t>(cuts_.size()), true, [&](SearchScratch* scratch, int64_t i) {
    const bool of_all = Join(cuts_[i]);
    end(scratch, cuts_[i].pair, of_all);
  });
  return complete;
}

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_SEARCH_PARTS_H_
