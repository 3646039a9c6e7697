#ifndef EIPC_SIM_MESH_CONDENSED_STIFFNESS_H_
#define EIPC_SIM_MESH_CONDENSED_STIFFNESS_H_

#include <vector>

#include "sim/base/types.h"

namespace eipc {

// The stiffness of an object's fine model, condensed onto the n vertices of its cage and split over clusters of the fine model's
// tetrahedra, which turn with the object (sim/meshing/condense.h makes it, sim/energy/condensed.h evaluates it).
//
// Matrices are ordered by coordinate: row i * stride + k belongs to coordinate i of vertex k; stride is n rounded up to a multiple
// of four, and the rows between are zero.
struct CondensedStiffness {
  struct Cluster {
    std::vector<double> stiffness;  // symmetric, N/m; 3 * stride rows, 3 * n columns (j * n + l), column-major
    std::vector<Vec3> gradient;     // of each vertex's shape function, mean over the cluster's solid, 1/m
  };

  std::vector<Vec3> rest;  // of the vertices, m, mean 0, in the frame of the authored mesh
  std::vector<Cluster> clusters;
  double bulk_modulus_pa = 0;  // of the material

  size_t vertices() const { return rest.size(); }
  size_t stride() const { return (rest.size() + 3) / 4 * 4; }
};

}  // namespace eipc

#endif  // EIPC_SIM_MESH_CONDENSED_STIFFNESS_H_
