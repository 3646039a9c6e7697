#ifndef EIPC_TESTS_SIM_MATERIAL_LANE_GROUPS_H_
#define EIPC_TESTS_SIM_MATERIAL_LANE_GROUPS_H_

#include <algorithm>
#include <random>
#include <vector>

#include "sim/material/lanes.h"
#include "tests/sim/material/deformations.h"

namespace eipc::testing {

// The matrices by fours, mixed: well and badly behaved ones share a group. What is missing in the last repeats.
inline std::vector<Mat3s> GroupsOf(std::vector<Mat3> all) {
  std::mt19937_64 rng(99);
  std::shuffle(all.begin(), all.end(), rng);
  std::vector<Mat3s> out((all.size() + 3) / 4);
  for (size_t k = 0; k < 4 * out.size(); ++k) SetLane(static_cast<int>(k % 4), all[std::min(k, all.size() - 1)], &out[k / 4]);
  return out;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_MATERIAL_LANE_GROUPS_H_
