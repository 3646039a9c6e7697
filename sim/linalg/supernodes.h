#ifndef EIPC_SIM_LINALG_SUPERNODES_H_
#define EIPC_SIM_LINALG_SUPERNODES_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/linalg/block_matrix.h"
#include "sim/linalg/minimum_fill.h"

namespace eipc {

// What the pattern alone says about a supernodal factorization. All indices count nodes (3x3 blocks) in the permuted order. Lists
// of lists lie in one piece each: patterns come and go, and what is kept of them should not go through the heap every time.
struct SupernodalStructure {
  // Columns [begin, end) with one row structure: the first rows are the columns themselves, the rest lie below, sorted.
  struct Supernode {
    int32_t begin = 0;
    int32_t end = 0;
    int32_t parent = -1;    // supernode of the first row below
    int32_t first_row = 0;  // in row_list
    int32_t row_count = 0;
    int64_t panel = 0;   // offset of its dense panel: column-major, leading dimension `stride`
    int32_t stride = 0;  // 3 * rows, rounded up to a multiple of 4
    int32_t columns() const { return end - begin; }
  };
  // Rows [first, last) of descendant `source` lie in this supernode's columns: its outer product updates the panel. Entry i of
  // `relative` is the panel row (in nodes) of source row first + i.
  struct Update {
    int32_t source = 0;
    int32_t first = 0;
    int32_t last = 0;
    int32_t first_relative = 0;
    int32_t relative_count = 0;
  };
  // For a stored block of the matrix: where it goes, as panel offset of its (0, 0) entry, the panel's stride, the supernode, and
  // whether it is transposed there.
  struct Target {
    int64_t offset = 0;
    int32_t stride = 0;
    int32_t supernode = -1;  // none: it couples a fixed node
    bool transposed = false;
  };

  int32_t nodes = 0;
  std::vector<int32_t> order;     // permuted -> original
  std::vector<int32_t> position;  // original -> permuted
  std::vector<Supernode> supernodes;
  std::vector<int32_t> row_list;
  std::vector<int32_t> update_start;  // by supernode, into `updates`; sources ascending
  std::vector<Update> updates;
  std::vector<int32_t> relative;
  std::vector<int32_t> supernode_of;  // permuted column -> supernode
  int64_t panel_entries = 0;
  int64_t work_entries = 0;

  // By stored block, in the matrix's own order.
  std::vector<Target> targets;
  std::vector<std::pair<int32_t, int32_t>> block_at;  // original column and row
  // Stored blocks of each supernode, in matrix order.
  std::vector<int32_t> block_start;
  std::vector<int32_t> blocks;

  std::span<const int32_t> RowsOf(const Supernode& s) const { return {row_list.data() + s.first_row, size_t(s.row_count)}; }
  std::span<const int32_t> RelativeOf(const Update& u) const {
    return {relative.data() + u.first_relative, size_t(u.relative_count)};
  }
  std::span<const Update> UpdatesOf(int32_t supernode) const {
    return {updates.data() + update_start[supernode], updates.data() + update_start[supernode + 1]};
  }
  std::span<const int32_t> BlocksOf(int32_t supernode) const {
    return {blocks.data() + block_start[supernode], blocks.data() + block_start[supernode + 1]};
  }
};

// Makes structures, and keeps the memory that it takes.
class PatternAnalysis {
 public:
  // `changing`: by node, ordered last where that saves time; may be empty. `fixed`: by node, coupled to nothing; may be empty.
  void Analyze(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed,
               SupernodalStructure* out);

 private:
  using Ints = std::vector<int32_t>;
  // Lists of rows below the diagonal, one a column, in any order.
  struct Columns {
    Ints start, rows;
    std::span<const int32_t> operator[](int32_t j) const { return {rows.data() + start[j], rows.data() + start[j + 1]}; }
  };
  struct Group {
    int32_t begin, end;
    int64_t zeros;  // blocks stored without need
  };

  void FindOrder(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed, Ints* order);
  void PermuteLower(const BlockMatrix& h, const std::vector<uint8_t>& fixed, const Ints& position);
  void FindFactor(int32_t n);
  void FindPostorder(int32_t n);
  void Relabel(int32_t n, Ints* order);
  void FindGroups(int32_t n);
  void SetSupernodes(SupernodalStructure* s);
  static void SetUpdates(SupernodalStructure* s);
  void SetTargets(const BlockMatrix& h, const std::vector<uint8_t>& fixed, SupernodalStructure* s);

  MinimumFill minimum_fill_;
  Ints start_, neighbours_, next_, mark_;
  std::vector<uint8_t> late_;
  Columns lower_, factor_, relabelled_;
  Ints parent_, child_, sibling_, stack_, postorder_, label_, old_order_;
  std::vector<Group> groups_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_SUPERNODES_H_
