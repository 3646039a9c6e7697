#ifndef EIPC_SIM_ENERGY_CONDENSED_BODY_H_
#define EIPC_SIM_ENERGY_CONDENSED_BODY_H_

// What the energy of a condensed body is computed from, for condensed.cc and stored_elastic_energy.cc.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sim/energy/condensed.h"
#include "sim/energy/folding.h"
#include "sim/mesh/condensed_stiffness.h"

namespace eipc {

// Its nodes are the cage's vertices, in their order from this one on.
inline int32_t FirstNode(const ElasticBody& body) {
  int32_t first = body.nodes[0][0];
  for (const Tet& t : body.nodes) first = std::min(first, *std::min_element(t.begin(), t.end()));
  return first;
}

inline Vec3 CenterOf(const VecX& q, int32_t first, size_t n) {
  Vec3 sum = Vec3::Zero();
  for (size_t k = 0; k < n; ++k) sum += q.segment<3>(3 * (first + k));
  return sum / static_cast<double>(n);
}

// Six rows of the mean strain of a part.
inline const double* StrainOf(const CondensedStiffness::Cluster& cluster, size_t part) {
  return cluster.strain.data() + cluster.strain.size() / cluster.volume.size() * part;
}

inline FoldingLaw FoldingOf(const CondensedStiffness& condensed) {
  return {condensed.bulk_modulus_pa, CondensedTerm::kFoldingStart};
}

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_CONDENSED_BODY_H_
