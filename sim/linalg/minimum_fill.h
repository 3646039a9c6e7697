#ifndef EIPC_SIM_LINALG_MINIMUM_FILL_H_
#define EIPC_SIM_LINALG_MINIMUM_FILL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sim/linalg/least_first.h"

namespace eipc {

// An order of elimination with little fill. The next node is the one whose elimination couples the fewest pairs of nodes that are
// not coupled yet, where nodes that have been found alike are eliminated together and the pairs are divided among them (approximate
// minimum mean local fill; Rothberg & Eisenstat, "Node selection strategies for bottom-up sparse matrix ordering", SIAM J. Matrix
// Anal. Appl. 19, 1998). The graph is a quotient graph, in which no list of a node grows: a node that has been eliminated stays as
// an element, which stands for the clique of its neighbours (Amestoy, Davis & Duff, "An approximate minimum degree ordering
// algorithm", ibid. 17, 1996). Lists of elements that have gone stay too. Keeps its memory. The order depends on
// the graph and the numbers of its nodes alone.
class MinimumFill {
 public:
  // Node i is coupled to neighbours[start[i]] to neighbours[start[i + 1] - 1]; every pair both ways, no node to itself. `late` (by
  // node): those marked come after all others, but for nodes with very many neighbours, which come last of all.
  void Order(const std::vector<int32_t>& start, const std::vector<int32_t>& neighbours, const std::vector<uint8_t>& late,
             std::vector<int32_t>* order);

 private:
  enum class Kind : uint8_t { kVariable, kElement, kGone };  // gone: eliminated with another, merged, or within another's clique
  struct Node {
    int64_t first = 0;       // its list in lists_: elements that it belongs to, then variables; of an element its clique
    int64_t outside = -1;    // of an element, from since_ on: the weight of what it has outside the clique
    int32_t clique_of = -1;  // the last pivot that it was coupled to; when the hubs begin, the root of its part
    int32_t length = 0;      // of the list
    int32_t elements = 0;    // how many of it
    int32_t weight = 1;      // nodes merged into a variable, with itself
    int32_t degree = 0;      // a bound of the weight of its neighbours; of an element the weight of its clique
    int32_t merged = -1;     // the next node of those
    int32_t last = -1;       // the last of them
    uint32_t hash = 0;       // of its list
    uint8_t level = 0;       // lower ones first
    Kind kind = Kind::kVariable;
  };
  // Of the clique of the node that is being eliminated.
  struct Member {
    int32_t node = 0;
    int32_t outside = 0;  // the weight of its neighbours that are not in the clique, at most
    int64_t coupled = 0;  // pairs of its neighbours, not both in the clique, that are coupled already, nearly
  };

  static constexpr uint8_t kLate = 1, kHub = 2;  // levels

  std::span<const int32_t> NeighboursOf(int32_t node) const;
  // How long the list is that begins there and ends the lists.
  int32_t ListedSince(int64_t first) const;
  void Begin(const std::vector<uint8_t>& late);
  void BeginHubs();
  Node& BeginElement(int32_t node);
  void MakeElementOfPart(int32_t root);
  void ListHub(int32_t hub);
  // The next node to eliminate.
  int32_t Next();
  void Eliminate(int32_t pivot);
  void FindClique(int32_t pivot);
  void CountOutside();
  void Prune(int32_t pivot, Member* member);
  void MergeAlike();
  void MergeInto(int32_t node, int32_t same);
  void Close(int32_t pivot);
  // Takes a variable, and what was merged into it, out of the graph, next in the order.
  void Append(int32_t node);
  void Offer(int32_t node, float key);

  const std::vector<int32_t>*start_ = nullptr, *neighbours_ = nullptr;
  std::vector<int32_t>* order_ = nullptr;
  int32_t left_ = 0;   // the weight of what is to be eliminated
  uint8_t level_ = 0;  // of those that may be
  std::vector<Node> nodes_;
  std::vector<int32_t> lists_;
  LeastFirst least_;
  std::vector<float> keys_;  // of those that have to wait
  std::vector<Member> clique_;
  int32_t clique_weight_ = 0;
  int64_t since_ = 0;
  std::vector<int32_t> variables_;             // of a list that is written anew, or nodes whose neighbours are still to be seen
  std::vector<int32_t> bucket_, same_bucket_;  // by sums of lists, a power of two; by node
  std::vector<int32_t> seen_;                  // by node, in a list that is compared: the number of the comparison
  int32_t comparison_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_MINIMUM_FILL_H_
