#ifndef EIPC_SIM_MESH_VTK_CELLS_H_
#define EIPC_SIM_MESH_VTK_CELLS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "sim/base/memory_meter.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// VTK's numbers of the cell types that a mesh may hold.
enum VtkCell { kVertex = 1, kPolyVertex = 2, kLine = 3, kPolyLine = 4, kTriangle = 5, kPolygon = 7, kQuad = 9, kTetra = 10 };

inline bool IsSkippedVtkCell(int64_t type) { return type == kVertex || type == kPolyVertex || type == kLine || type == kPolyLine; }
// Whether a mesh may hold cells of this type.
inline bool IsVtkCell(int64_t type) {
  return IsSkippedVtkCell(type) || type == kTriangle || type == kPolygon || type == kQuad || type == kTetra;
}
// Whether a cell of this type may have `n` vertices.
inline bool IsVtkCellOf(int64_t type, int64_t n) {
  return IsSkippedVtkCell(type) || (type == kTetra && n == 4) || (type == kTriangle && n == 3) || (type == kQuad && n == 4) ||
         (type == kPolygon && n >= 3);
}

// Adds a cell for which IsVtkCellOf holds, of vertices `v`, all in range: tetrahedra, triangles and polygons (fanned); vertices and
// lines are skipped.
inline absl::Status AddVtkCell(int64_t type, const int32_t* v, int64_t n, MeshData* mesh, MemoryMeter* meter) {
  if (IsSkippedVtkCell(type)) return absl::OkStatus();
  if (type == kTetra) return Append<Tet>({v[0], v[1], v[2], v[3]}, &mesh->tets, meter);
  for (int64_t k = 1; k + 1 < n; ++k) EIPC_RETURN_IF_ERROR(Append<Triangle>({v[0], v[k], v[k + 1]}, &mesh->triangles, meter));
  return absl::OkStatus();
}

}  // namespace eipc

#endif  // EIPC_SIM_MESH_VTK_CELLS_H_
