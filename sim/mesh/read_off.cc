#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/text_scanner.h"

namespace eipc {
namespace {

bool IsMagic(absl::string_view word) {
  // Normals, texture coordinates and colours follow a vertex's position, so these variants are read alike.
  return word == "OFF" || word == "COFF" || word == "NOFF" || word == "CNOFF" || word == "STOFF";
}

// The line of the counts. The word OFF may stand before them, on the same line or on one of its own, or be missing.
absl::StatusOr<absl::string_view> SkipMagic(TextScanner* scan) {
  const absl::string_view first = scan->ContentLine();
  absl::string_view rest = first;
  const absl::string_view word = CutToken(&rest);
  int64_t count = 0;
  if (ParseInteger(word, &count)) return first;
  if (!IsMagic(word)) return scan->Error("not an OFF file: it must start with 'OFF' or the numbers of vertices, faces and edges");
  absl::string_view after = rest;
  const absl::string_view next = CutToken(&after);
  if (next == "BINARY") return scan->Error("binary OFF files are not read; save the mesh as ASCII");
  return next.empty() ? scan->ContentLine() : rest;
}

absl::Status ReadFace(absl::string_view line, const TextScanner& scan, MeshData* mesh, MemoryMeter* meter) {
  int64_t corners = 0;
  if (!ParseInteger(CutToken(&line), &corners) || corners < 3)
    return scan.Error("a face must start with its number of corners, >= 3");
  if (corners > static_cast<int64_t>(line.size())) return scan.Error(absl::StrCat("a face of ", corners, " corners is cut short"));
  std::vector<int32_t> polygon;
  for (int64_t k = 0; k < corners; ++k) {
    int64_t index = 0;
    if (!ParseInteger(CutToken(&line), &index)) return scan.Error(absl::StrCat("a face of ", corners, " corners is cut short"));
    if (index < 0 || index >= static_cast<int64_t>(mesh->vertices.size())) {
      return scan.Error(absl::StrCat("vertex index ", index, " is out of range: there are ", mesh->vertices.size(), " vertices"));
    }
    EIPC_RETURN_IF_ERROR(Append(static_cast<int32_t>(index), &polygon, meter));
  }
  for (size_t k = 1; k + 1 < polygon.size(); ++k) {
    EIPC_RETURN_IF_ERROR(Append<Triangle>({polygon[0], polygon[k], polygon[k + 1]}, &mesh->triangles, meter));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MeshData> ReadOff(absl::string_view text, const std::string& file, MemoryMeter* meter) {
  TextScanner scan(text, file);
  EIPC_ASSIGN_OR_RETURN(absl::string_view line, SkipMagic(&scan));
  int64_t vertices = 0, faces = 0;
  if (!ParseInteger(CutToken(&line), &vertices) || !ParseInteger(CutToken(&line), &faces)) {
    return scan.Error("expected the numbers of vertices, faces and edges");
  }
  EIPC_RETURN_IF_ERROR(scan.CheckRoom(vertices, 6, "the number of vertices"));
  EIPC_RETURN_IF_ERROR(scan.CheckRoom(faces, 8, "the number of faces"));
  if (vertices > kMaxMeshElements) return scan.Error("too many vertices");
  MeshData mesh;
  for (int64_t v = 0; v < vertices; ++v) {
    line = scan.ContentLine();
    Vec3 p;
    for (int k = 0; k < 3; ++k) {
      if (!ParseFiniteDouble(CutToken(&line), &p[k])) {
        return scan.Error(absl::StrCat("vertex ", v, " of ", vertices, " needs three finite coordinates"));
      }
    }
    EIPC_RETURN_IF_ERROR(Append(p, &mesh.vertices, meter));
  }
  for (int64_t f = 0; f < faces; ++f) {
    line = scan.ContentLine();
    if (line.empty()) return scan.Error(absl::StrCat("the file ends after ", f, " of ", faces, " faces"));
    EIPC_RETURN_IF_ERROR(ReadFace(line, scan, &mesh, meter));
  }
  return mesh;
}

}  // namespace eipc
