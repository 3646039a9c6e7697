#ifndef EIPC_SIM_ENERGY_TET_PATTERN_H_
#define EIPC_SIM_ENERGY_TET_PATTERN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// The pairs of nodes that tetrahedra couple.
inline void AppendTetPairs(const std::vector<Tet>& tets, std::vector<std::pair<int32_t, int32_t>>* pairs) {
  for (const Tet& t : tets) {
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < a; ++b) pairs->emplace_back(t[a], t[b]);
    }
  }
}

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_TET_PATTERN_H_
