#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/text_scanner.h"

namespace eipc {
namespace {

absl::StatusOr<Vec3> ParseVertex(absl::string_view line, const TextScanner& scan) {
  Vec3 p;
  for (int k = 0; k < 3; ++k) {
    const absl::string_view token = CutToken(&line);
    if (!ParseFiniteDouble(token, &p[k])) {
      return scan.Error(absl::StrCat("a vertex needs three finite coordinates, got ", token.empty() ? "nothing" : Quoted(token)));
    }
  }
  return p;
}

// Vertex index (0-based) of a corner `v`, `v/vt`, `v//vn` or `v/vt/vn`; negative ones count back from the last vertex so far.
absl::StatusOr<int64_t> ParseCorner(absl::string_view token, int64_t vertices_so_far, const TextScanner& scan) {
  int64_t index = 0;
  if (!ParseInteger(token.substr(0, token.find('/')), &index) || index == 0) {
    return scan.Error(absl::StrCat("bad face corner ", Quoted(token), " (indices start at 1)"));
  }
  if (index > 0) return index - 1;
  if (index < -vertices_so_far) {
    return scan.Error(absl::StrCat("face corner ", index, " counts back beyond the first of ", vertices_so_far, " vertices"));
  }
  return vertices_so_far + index;
}

}  // namespace

absl::StatusOr<MeshData> ReadObj(absl::string_view text, const std::string& file, MemoryMeter* meter) {
  TextScanner scan(text, file);
  MeshData mesh;
  struct Corners {
    std::array<int64_t, 3> index;
    int64_t line;
  };
  std::vector<Corners> faces;
  std::vector<int64_t> polygon;
  while (true) {
    absl::string_view line = scan.ContentLine();
    if (line.empty()) break;
    const absl::string_view keyword = CutToken(&line);
    if (keyword == "v") {
      EIPC_ASSIGN_OR_RETURN(const Vec3 p, ParseVertex(line, scan));
      EIPC_RETURN_IF_ERROR(Append(p, &mesh.vertices, meter));
    } else if (keyword == "f") {
      polygon.clear();
      for (absl::string_view token = CutToken(&line); !token.empty(); token = CutToken(&line)) {
        EIPC_ASSIGN_OR_RETURN(const int64_t index, ParseCorner(token, static_cast<int64_t>(mesh.vertices.size()), scan));
        EIPC_RETURN_IF_ERROR(Append(index, &polygon, meter));
      }
      if (polygon.size() < 3) return scan.Error(absl::StrCat("a face needs at least 3 corners, got ", polygon.size()));
      for (size_t k = 1; k + 1 < polygon.size(); ++k) {
        EIPC_RETURN_IF_ERROR(Append<Corners>({{polygon[0], polygon[k], polygon[k + 1]}, scan.line()}, &faces, meter));
      }
    }
  }
  for (const Corners& face : faces) {  // a face may come before its vertices
    for (const int64_t index : face.index) {
      if (index >= static_cast<int64_t>(mesh.vertices.size())) {
        return scan.ErrorAt(
            face.line, absl::StrCat("face corner ", index + 1, " is out of range: there are ", mesh.vertices.size(), " vertices"));
      }
    }
    const Triangle triangle = {static_cast<int32_t>(face.index[0]), static_cast<int32_t>(face.index[1]),
                               static_cast<int32_t>(face.index[2])};
    EIPC_RETURN_IF_ERROR(Append(triangle, &mesh.triangles, meter));
  }
  return mesh;
}

}  // namespace eipc
