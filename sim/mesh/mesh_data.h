#ifndef EIPC_SIM_MESH_MESH_DATA_H_
#define EIPC_SIM_MESH_MESH_DATA_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// A mesh as read, before any check: tetrahedra or triangles (or both), and every vertex of the file in its order.
struct MeshData {
  std::vector<Vec3> vertices;
  std::vector<Tet> tets;
  std::vector<Triangle> triangles;

  int64_t bytes() const {
    return static_cast<int64_t>(vertices.size() * sizeof(Vec3) + tets.size() * sizeof(Tet) + triangles.size() * sizeof(Triangle));
  }
};

}  // namespace eipc

#endif  // EIPC_SIM_MESH_MESH_DATA_H_
