#ifndef EIPC_SIM_MESH_VTK_CELLS_H_
#define EIPC_SIM_MESH_VTK_CELLS_H_

#include <cstdint>

#include "sim/mesh/mesh_data.h"

namespace eipc {

// VTK's numbers of the cell types that a mesh may hold.
enum VtkCell { kVertex = 1, kPolyVertex = 2, kLine = 3, kPolyLine = 4, kTriangle = 5, kPolygon = 7, kQuad = 9, kTetra = 10 };

// Adds a cell of `n` vertices `v`, all in range: tetrahedra, triangles and polygons (fanned); vertices and lines are skipped. False
// for other cells.
inline bool AddVtkCell(int64_t type, const int32_t* v, int64_t n, MeshData* mesh) {
  if (type == kVertex || type == kPolyVertex || type == kLine || type == kPolyLine) return true;
  if (type == kTetra && n == 4) {
    mesh->tets.push_back({v[0], v[1], v[2], v[3]});
    return true;
  }
  const bool polygon = (type == kTriangle && n == 3) || (type == kQuad && n == 4) || (type == kPolygon && n >= 3);
  for (int64_t k = 1; polygon && k + 1 < n; ++k) mesh->triangles.push_back({v[0], v[k], v[k + 1]});
  return polygon;
}

}  // namespace eipc

#endif  // EIPC_SIM_MESH_VTK_CELLS_H_
