#ifndef EIPC_SIM_LINALG_SUPERNODES_H_
#define EIPC_SIM_LINALG_SUPERNODES_H_

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "sim/linalg/block_matrix.h"

namespace eipc {

// What the pattern alone says about a supernodal factorization. All indices count nodes (3x3 blocks) in the permuted order. All of
// it lies in one memory resource: patterns come and go, and what is kept of them should not go through the heap every time.
struct SupernodalStructure {
  using Ints = std::pmr::vector<int32_t>;
  explicit SupernodalStructure(std::pmr::memory_resource* resource) : memory(resource) {}
  std::pmr::memory_resource* memory;

  // Columns [begin, end) with one row structure: rows[0 .. end-begin) are the columns themselves, the rest lie below, sorted.
  struct Supernode {
    int32_t begin = 0;
    int32_t end = 0;
    int32_t parent = -1;  // supernode of the first row below
    Ints rows;
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
    Ints relative;
  };

  int32_t nodes = 0;
  Ints order{memory};     // permuted -> original
  Ints position{memory};  // original -> permuted
  std::pmr::vector<Supernode> supernodes{memory};
  std::pmr::vector<std::pmr::vector<Update>> updates{memory};  // by supernode, sources ascending
  Ints supernode_of{memory};                                   // permuted column -> supernode
  int64_t panel_entries = 0;
  int64_t work_entries = 0;

  // For every stored block of the matrix (in its own order): where it goes, as panel offset of its (0, 0) entry, the panel's
  // stride, and whether it is transposed there.
  struct Target {
    int64_t offset = 0;
    int32_t stride = 0;
    bool transposed = false;
  };
  std::pmr::vector<Target> targets{memory};
  // Stored blocks by supernode, in matrix order; those that couple a fixed node are left out.
  std::pmr::vector<std::pmr::vector<int64_t>> blocks_of{memory};
  Ints block_column{memory};  // original column of a stored block
};

// `changing`: by node, ordered last; may be empty. `fixed`: by node, coupled to nothing; may be empty.
SupernodalStructure AnalyzePattern(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed,
                                   std::pmr::memory_resource* memory);

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_SUPERNODES_H_
