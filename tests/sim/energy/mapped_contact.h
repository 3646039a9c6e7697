#ifndef EIPC_TESTS_SIM_ENERGY_MAPPED_CONTACT_H_
#define EIPC_TESTS_SIM_ENERGY_MAPPED_CONTACT_H_

// The six surface vertices of one contact, moved by nodes through every kind of map that bodies have.

#include <string>
#include <vector>

#include "sim/energy/surface_map.h"
#include "tests/sim/contact/stencil_cases.h"
#include "tests/sim/energy/term_battery.h"

namespace eipc::testing {

struct MappedContact {
  std::string name;
  std::vector<EmbeddingRow> rows;
  std::vector<Vec3> offsets;
  VecX q;  // nodes at which J q + c are the wanted positions
  MatX j;  // 18 x 3 nodes
  int nodes() const { return static_cast<int>(q.size() / 3); }
};

// Identity (each vertex a node), embedded (two cages of four nodes), one cage for both sides (self-contact), and a side that is
// static.
std::vector<MappedContact> EveryMapping(const std::vector<Vec3>& x, Random* random);

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_ENERGY_MAPPED_CONTACT_H_
