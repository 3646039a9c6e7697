#ifndef EIPC_SIM_LINALG_SUPERNODES_H_
#define EIPC_SIM_LINALG_SUPERNODES_H_

#include <cstdint>
#include <vector>

#include "sim/linalg/block_matrix.h"

namespace eipc {

// What the pattern alone says about a supernodal factorization. All indices count nodes (3x3 blocks) in the permuted order.
struct SupernodalStructure {
  // Columns [begin, end) with one row structure: rows[0 .. end-begin) are the columns themselves, the rest lie below, sorted.
  struct Supernode {
    int32_t begin = 0;
    int32_t end = 0;
    int32_t parent = -1;  // supernode of the first row below
    std::vector<int32_t> rows;
    int64_t panel = 0;   // offset of its dense panel: column-major, leading dimension `stride`
    int32_t stride = 0;  // 3 * rows, rounded up to a multiple of 4
    int32_t columns() const { return end - begin; }
  };
  // Rows [first, last) of descendant `source` lie in this supernode's columns: its outer product updates the panel. `relative[i]`
  // is the panel row (in nodes) of source row first + i.
  struct Update {
    int32_t source = 0;
    int32_t first = 0;
    int32_t last = 0;
    std::vector<int32_t> relative;
  };

  int32_t nodes = 0;
  std::vector<int32_t> order;     // permuted -> original
  std::vector<int32_t> position;  // original -> permuted
  std::vector<Supernode> supernodes;
  std::vector<std::vector<Update>> updates;  // by supernode, sources ascending
  std::vector<int32_t> supernode_of;         // permuted column -> supernode
  int64_t panel_entries = 0;
  int64_t work_entries = 0;

  // For every stored block of the matrix (in its own order): where it goes, as panel offset of its (0, 0) entry, the panel's
  // stride, and whether it is transposed there.
  struct Target {
    int64_t offset = 0;
    int32_t stride = 0;
    bool transposed = false;
  };
  std::vector<Target> targets;
  // Stored blocks by supernode, in matrix order; those that couple a fixed node are left out.
  std::vector<std::vector<int64_t>> blocks_of;
  std::vector<int32_t> block_column;  // original column of a stored block
};

// `changing`: by node, ordered last; may be empty. `fixed`: by node, coupled to nothing; may be empty.
SupernodalStructure AnalyzePattern(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed);

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_SUPERNODES_H_
