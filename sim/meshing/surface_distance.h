#ifndef EIPC_SIM_MESHING_SURFACE_DISTANCE_H_
#define EIPC_SIM_MESHING_SURFACE_DISTANCE_H_

#include "sim/mesh/mesh_data.h"

namespace eipc {

// Distance of two surfaces, m, from points spread over both: every vertex, and points of each triangle in proportion to its area.
// `max` is therefore at most the Hausdorff distance, and short of it by no more than the spacing of the points.
struct SurfaceDistance {
  double mean = 0;             // over both directions
  double max = 0;              // the larger of the two below
  double max_from_first = 0;   // how far the first strays from the second
  double max_from_second = 0;  // how far the second strays from the first
};
SurfaceDistance DistanceBetween(const MeshData& first, const MeshData& second);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_SURFACE_DISTANCE_H_
