#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/text_scanner.h"

namespace eipc {

absl::StatusOr<MeshData> ReadPlanted(absl::string_view text, const std::string& file, MemoryMeter* meter) {
  TextScanner scan(text, file);
  MeshData mesh;
  EIPC_ASSIGN_OR_RETURN(const int64_t vertices, scan.Count("the number of vertices", 6));
  for (int64_t i = 0; i < vertices; ++i) {
    Vec3 p;
    for (int k = 0; k < 3; ++k) {
      EIPC_ASSIGN_OR_RETURN(p[k], scan.FiniteDouble("a coordinate"));
    }
    EIPC_RETURN_IF_ERROR(Append(p, &mesh.vertices, meter));
  }
  EIPC_RETURN_IF_ERROR(Append<Triangle>({0, 1, 2}, &mesh.triangles, meter));
  return mesh;
}

}  // namespace eipc
