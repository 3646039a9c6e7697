#ifndef EIPC_SIM_MESHING_FINE_CLUSTERS_H_
#define EIPC_SIM_MESHING_FINE_CLUSTERS_H_

#include <vector>

#include "sim/meshing/fine_model.h"

namespace eipc {

// The cluster, 0 <= c < `clusters`, of each of the model's tetrahedra: the one with the nearest centre. The first centre of each
// cluster is as far as possible from those before it; twenty rounds then move every centre to the centroid of its cluster (Lloyd's
// algorithm). Some may be empty. Deterministic.
std::vector<int> ClusterOf(const FineModel& fine, int clusters);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_FINE_CLUSTERS_H_
