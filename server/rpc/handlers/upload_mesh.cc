#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/handlers/calls.h"
#include "server/session/access.h"
#include "server/session/checksum.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_readers.h"

namespace eipc::rpc {
namespace {

absl::Status Invalid(absl::string_view text) { return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", text)); }

absl::Status CheckFirst(const Services& services, const v1::UploadMeshRequest& first) {
  if (first.file_name().empty()) return Invalid("file_name: missing in the first message");
  if (first.total_bytes() <= 0) return Invalid(absl::StrCat("total_bytes: must be > 0, got ", first.total_bytes()));
  if (first.sha256().size() != 64) return Invalid("sha256: must be 64 hex digits");
  return services.uploads.CheckSize(first.total_bytes());
}

}  // namespace

absl::Status UploadMesh(Services& services, const CallContext& context, const std::function<bool(v1::UploadMeshRequest*)>& read,
                        v1::MeshInfo* response) {
  v1::UploadMeshRequest piece;
  if (!read(&piece)) return Invalid("an upload needs at least one message");
  EIPC_RETURN_IF_ERROR(CheckFirst(services, piece));
  const std::string file_name = piece.file_name();
  const std::string sha256 = absl::AsciiStrToLower(piece.sha256());
  const size_t total = static_cast<size_t>(piece.total_bytes());
  // Paid for before it comes.
  EIPC_ASSIGN_OR_RETURN(const MemoryBudget::Share memory, services.memory.Take(piece.total_bytes(), "the upload"));
  std::string data;
  do {
    EIPC_RETURN_IF_ERROR(context.budget.Poll());
    if (piece.data().size() > total - data.size()) return Invalid(absl::StrCat("data: more than total_bytes = ", total));
    if (Crc32(piece.data()) != piece.crc32()) return Invalid(absl::StrCat("crc32: does not fit the data at byte ", data.size()));
    data += piece.data();
  } while (read(&piece));
  if (data.size() != total) return Invalid(absl::StrCat("data: ended after ", data.size(), " of ", total, " bytes"));
  if (Sha256Hex(data) != sha256) return Invalid("sha256: does not fit the data");
  RequestMemory reading(&services.memory, "reading the mesh");
  const absl::StatusOr<MeshData> mesh = ParseMesh(data, file_name, &reading);
  if (absl::IsResourceExhausted(mesh.status())) return mesh.status();
  if (!mesh.ok())
    return absl::InvalidArgumentError(absl::StrCat("MESH_INVALID: ", Printable(file_name), ": ", mesh.status().message()));
  response->set_reference(absl::StrCat(kUploadPrefix, sha256));
  response->set_size_bytes(static_cast<int64_t>(total));
  response->set_vertices(static_cast<int32_t>(mesh->vertices.size()));
  response->set_triangles(static_cast<int32_t>(mesh->triangles.size()));
  response->set_tetrahedra(static_cast<int32_t>(mesh->tets.size()));
  return services.uploads.Add(context.tenant, sha256, {file_name, std::move(data)});
}

}  // namespace eipc::rpc
