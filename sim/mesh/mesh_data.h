#ifndef EIPC_SIM_MESH_MESH_DATA_H_
#define EIPC_SIM_MESH_MESH_DATA_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
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

class MemoryMeter;

// Reads by extension: OBJ, OFF, PLY and STL triangles; legacy VTK (versions 2 to 5), VTU and Gmsh MSH (2, 4) tets or triangles.
// ASCII and binary where the format has both. Hostile content is refused. What is held grows with what has been read, and is asked
// of `meter` before (nullptr: no bound). NOT_FOUND, INVALID_ARGUMENT with file name, line and what is wrong, or the meter's
// refusal.
absl::StatusOr<MeshData> ReadMesh(const std::string& path, MemoryMeter* meter = nullptr);
// The same from the content of such a file; `file_name` tells the format by its extension and appears in errors.
absl::StatusOr<MeshData> ParseMesh(std::string_view content, const std::string& file_name, MemoryMeter* meter = nullptr);
// Legacy VTK 3.0 ASCII (tets when present, else triangles) with 17 significant digits; or OBJ by extension.
absl::Status WriteMesh(const std::string& path, const MeshData& mesh);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_MESH_DATA_H_
