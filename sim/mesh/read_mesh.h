#ifndef EIPC_SIM_MESH_READ_MESH_H_
#define EIPC_SIM_MESH_READ_MESH_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/base/memory_meter.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// Reads by extension (mesh_formats.h). Hostile content is refused. What is held grows with what has been read, and is asked of
// `meter` before (nullptr: no bound). NOT_FOUND, INVALID_ARGUMENT with file name, line and what is wrong, or the meter's refusal.
absl::StatusOr<MeshData> ReadMesh(const std::string& path, MemoryMeter* meter = nullptr);
// The same from the content of such a file; the extension of `file_name` names the format, and errors quote it.
absl::StatusOr<MeshData> ParseMesh(absl::string_view content, const std::string& file_name, MemoryMeter* meter = nullptr);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_READ_MESH_H_
