#ifndef EIPC_SIM_MESH_MESH_READERS_H_
#define EIPC_SIM_MESH_MESH_READERS_H_

// One reader a format, over the whole content of a file. `file` is the name in errors. Vertices keep the order of the file, those
// that no cell uses included, so that index i is the file's vertex i; only STL, whose corners have no numbers, numbers them by
// first use. Every index they return is in range. What they hold grows with what they have read, never with a number that the file
// declares; each asks `meter` for the memory before (nullptr: no bound) and returns its refusal.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/base/memory_meter.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// Legacy VTK, ASCII or binary: UNSTRUCTURED_GRID or POLYDATA, cell arrays of versions 1-4 (count and indices a line) and 5 (offsets
// and connectivity). Tetrahedra, triangles and polygons (fanned); vertices and lines are skipped; other cells are an error.
absl::StatusOr<MeshData> ReadVtk(absl::string_view text, const std::string& file, MemoryMeter* meter = nullptr);
// Wavefront OBJ: v and f (fanned polygons, negative indices, texture and normal indices ignored); a backslash continues a line.
absl::StatusOr<MeshData> ReadObj(absl::string_view text, const std::string& file, MemoryMeter* meter = nullptr);
// ASCII OFF, with or without that word, with vertices and polygons (fanned); colours after a face are ignored.
absl::StatusOr<MeshData> ReadOff(absl::string_view text, const std::string& file, MemoryMeter* meter = nullptr);
// STL, ASCII or binary; exactly equal corners become one vertex.
absl::StatusOr<MeshData> ReadStl(absl::string_view content, const std::string& file, MemoryMeter* meter = nullptr);
// PLY, ASCII and binary of either byte order: vertices and polygons (fanned); other elements and properties are skipped.
absl::StatusOr<MeshData> ReadPly(absl::string_view content, const std::string& file, MemoryMeter* meter = nullptr);
// Gmsh MSH 2 and 4.1, ASCII and binary, and 4.0 ASCII: tetrahedra, triangles and quadrilaterals, of second-order ones their
// corners; other elements are skipped. Vertex i is the i-th node of the file, whatever its tag.
absl::StatusOr<MeshData> ReadMsh(absl::string_view content, const std::string& file, MemoryMeter* meter = nullptr);
// Medit `.mesh`, ASCII: vertices, tetrahedra, triangles and quadrilaterals (halved); edges and attributes are skipped, other volume
// cells refused.
absl::StatusOr<MeshData> ReadMedit(absl::string_view text, const std::string& file, MemoryMeter* meter = nullptr);
// VTK XML unstructured grids, one piece: ASCII, base64, appended raw or base64, uncompressed or zlib. Cells as ReadVtk.
absl::StatusOr<MeshData> ReadVtu(absl::string_view content, const std::string& file, MemoryMeter* meter = nullptr);

// Most vertices or cells a file may have: indices are int32.
inline constexpr int64_t kMaxMeshElements = 2'000'000'000;

}  // namespace eipc

#endif  // EIPC_SIM_MESH_MESH_READERS_H_
