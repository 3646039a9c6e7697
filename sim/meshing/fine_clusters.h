#ifndef EIPC_SIM_MESHING_FINE_CLUSTERS_H_
#define EIPC_SIM_MESHING_FINE_CLUSTERS_H_

#include <vector>

#include "sim/meshing/fine_model.h"

namespace eipc {

// The cluster, 0 <= c < `clusters`, of each of the model's tetrahedra: the one with the nearest centre. The first centre of each
// cluster is as far as possible from those before it; twenty rounds then move every centre to the centroid of its cluster (Lloyd's
// algorithm). Some may be empty. Deterministic.
std::vector<int> ClusterOf(const FineModel& fine, int clusters);

// The part of its cluster, counted from 0 in each, of each of the model's tetrahedra, made as the clusters are. `parts` in all:
// each cluster has as many as its volume is of the whole, and at least one.
std::vector<int> PartOf(const FineModel& fine, const std::vector<int>& cluster_of, int parts);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_FINE_CLUSTERS_H_
