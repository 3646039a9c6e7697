#include "sim/mesh/read_mesh.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_formats.h"

namespace eipc {
namespace {

constexpr uintmax_t kMaxFileBytes = uintmax_t{1} << 30;

absl::StatusOr<std::string> ReadFile(const std::string& path, MemoryMeter* meter) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  if (status.type() != std::filesystem::file_type::regular) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read: ", error.message()));
  if (size > kMaxFileBytes) return absl::InvalidArgumentError(absl::StrCat(path, ": larger than ", kMaxFileBytes, " bytes"));
  EIPC_RETURN_IF_ERROR(AddTo(meter, static_cast<int64_t>(size)));
  std::string content(size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(content.data(), static_cast<std::streamsize>(size));
  if (!in || in.gcount() != static_cast<std::streamsize>(size)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  }
  return content;
}

absl::StatusOr<MeshData> Parse(const MeshFormat& format, absl::string_view content, const std::string& file_name,
                               MemoryMeter* meter) {
  EIPC_ASSIGN_OR_RETURN(MeshData mesh, format.read(content, file_name, meter));
  if (mesh.tets.empty() && mesh.triangles.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(file_name, ": holds neither tetrahedra nor triangles"));
  }
  return mesh;
}

}  // namespace

absl::StatusOr<MeshData> ParseMesh(absl::string_view content, const std::string& file_name, MemoryMeter* meter) {
  EIPC_ASSIGN_OR_RETURN(const MeshFormat* const format, ReadableMeshFormat(file_name));
  return Parse(*format, content, file_name, meter);
}

absl::StatusOr<MeshData> ReadMesh(const std::string& path, MemoryMeter* meter) {
  // Before the file is read: an unknown format is refused whatever it holds.
  EIPC_ASSIGN_OR_RETURN(const MeshFormat* const format, ReadableMeshFormat(path));
  EIPC_ASSIGN_OR_RETURN(const std::string content, ReadFile(path, meter));
  return Parse(*format, content, path, meter);
}

}  // namespace eipc
