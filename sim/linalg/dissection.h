#ifndef EIPC_SIM_LINALG_DISSECTION_H_
#define EIPC_SIM_LINALG_DISSECTION_H_

#include <cstdint>
#include <vector>

#include "sim/linalg/block_matrix.h"

namespace eipc {

// An order of the nodes of a symmetric matrix in which parts of an elimination, or of a substitution, are independent: nested
// dissection (George 1973). The nodes are halved, and the halves again, by separators: sets of nodes without which the halves have
// no entry in common. Each separator comes after its halves. Nothing but the pattern decides. Within a part nodes keep their order,
// so a matrix too small to be cut keeps that of its nodes.
class Dissection {
 public:
  struct Part {
    int32_t begin, end;  // in order()
    int32_t nodes() const { return end - begin; }
  };

  // Parts of fewer than twice `least` nodes are not cut, nor those whose separators would have more than a quarter of their nodes.
  void LayOut(const BlockMatrix& h, int32_t least);

  const std::vector<int32_t>& order() const { return order_; }  // node by place
  // Parts by level: a part has entries in common with itself, with parts of earlier levels that it separates and with separators of
  // later levels. Parts of one level are independent of each other.
  const std::vector<std::vector<Part>>& levels() const { return levels_; }

 private:
  void FindNeighbours(const BlockMatrix& h);
  // Appends the nodes to order_, and returns the level of the last part.
  int Cut(const std::vector<int32_t>& nodes, int32_t least);
  // The neighbours in the second half of a sequence of nodes with the first half.
  std::vector<int32_t> Separator(const std::vector<int32_t>& sequence);
  // The nodes by their distance from one that is far from another, component by component.
  std::vector<int32_t> ByDistance(const std::vector<int32_t>& nodes);
  void AppendByDistance(int32_t from, std::vector<int32_t>* sequence);
  int Append(const std::vector<int32_t>& nodes, int level);

  std::vector<int32_t> order_;
  std::vector<std::vector<Part>> levels_;
  std::vector<int64_t> neighbour_start_;
  std::vector<int32_t> neighbours_;
  std::vector<int32_t> mark_;  // by node, for searches: kOutside, or what a search has made of it
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_DISSECTION_H_
