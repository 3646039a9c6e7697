#ifndef EIPC_SIM_MESH_MESH_FORMATS_H_
#define EIPC_SIM_MESH_MESH_FORMATS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/base/memory_meter.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// One format of mesh files: all that reading and writing by extension, error messages, the command line and the documentation say
// of it. A new format is a reader (mesh_readers.h) and a row in mesh_formats.cc.
struct MeshFormat {
  absl::string_view name;
  absl::string_view extension;  // with its dot, in lower case
  absl::string_view variants;   // what of it is read
  bool holds_tets;
  bool holds_triangles;
  absl::StatusOr<MeshData> (*read)(absl::string_view content, const std::string& file, MemoryMeter* meter);
  // nullptr: the format is not written. Only meshes that the format can hold.
  std::string (*write)(const MeshData& mesh);
};

absl::Span<const MeshFormat> MeshFormats();

// The format of a file by the extension of its name, in upper or lower case; nullptr: none.
const MeshFormat* FindMeshFormat(const std::string& file_name);
// The same, or INVALID_ARGUMENT that names the extensions.
absl::StatusOr<const MeshFormat*> ReadableMeshFormat(const std::string& file_name);

// For messages: ".obj, .off, .ply", of those for which `which` holds.
std::string MeshExtensions(bool (*which)(const MeshFormat&));
inline std::string MeshExtensions() {
  return MeshExtensions([](const MeshFormat&) { return true; });
}

}  // namespace eipc

#endif  // EIPC_SIM_MESH_MESH_FORMATS_H_
