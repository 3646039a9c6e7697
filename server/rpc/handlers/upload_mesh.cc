#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/handlers/calls.h"
#include "server/session/access.h"
#include "server/session/checksum.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/read_mesh.h"

namespace eipc::rpc {
namespace {

absl::Status Invalid(absl::string_view text) { return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", text)); }

absl::Status CheckFirst(const v1::UploadMeshRequest& first) {
  constexpr size_t kMostNameBytes = 1024;  // the name is kept with the file, which counts with its size alone
  if (first.file_name().empty()) return Invalid("file_name: missing in the first message");
  if (first.file_name().size() > kMostNameBytes) {
    return Invalid(absl::StrCat("file_name: must have at most ", kMostNameBytes, " bytes, has ", first.file_name().size()));
  }
  if (first.total_bytes() <= 0) return Invalid(absl::StrCat("total_bytes: must be > 0, got ", first.total_bytes()));
  if (first.sha256().size() != 64) return Invalid("sha256: must be 64 hex digits");
  return absl::OkStatus();
}

}  // namespace

absl::Status MeshUpload::Begin(const v1::UploadMeshRequest& first) {
  EIPC_RETURN_IF_ERROR(CheckFirst(first));
  // Room is made before it comes; memory is used as it comes.
  EIPC_ASSIGN_OR_RETURN(MeshStore::Room room, services_->uploads.MakeRoom(tenant_, first.total_bytes()));
  room_.emplace(std::move(room));
  file_name_ = first.file_name();
  sha256_ = absl::AsciiStrToLower(first.sha256());
  total_ = static_cast<size_t>(first.total_bytes());
  data_.reserve(total_);
  begun_ = true;
  return absl::OkStatus();
}

absl::Status MeshUpload::Add(const v1::UploadMeshRequest& piece) {
  if (!begun_) EIPC_RETURN_IF_ERROR(Begin(piece));
  if (piece.data().size() > total_ - data_.size()) return Invalid(absl::StrCat("data: more than total_bytes = ", total_));
  if (Crc32(piece.data()) != piece.crc32()) return Invalid(absl::StrCat("crc32: does not fit the data at byte ", data_.size()));
  data_ += piece.data();
  return absl::OkStatus();
}

absl::Status MeshUpload::Finish(v1::MeshInfo* response) {
  if (!begun_) return Invalid("an upload needs at least one message");
  if (data_.size() != total_) return Invalid(absl::StrCat("data: ended after ", data_.size(), " of ", total_, " bytes"));
  if (Sha256Hex(data_) != sha256_) return Invalid("sha256: does not fit the data");
  RequestMemory reading(&services_->memory, "reading the mesh");
  const absl::StatusOr<MeshData> mesh = ParseMesh(data_, file_name_, &reading);
  if (absl::IsResourceExhausted(mesh.status())) return mesh.status();
  if (!mesh.ok())
    return absl::InvalidArgumentError(absl::StrCat("MESH_INVALID: ", Printable(file_name_), ": ", mesh.status().message()));
  response->set_reference(absl::StrCat(kUploadPrefix, sha256_));
  response->set_size_bytes(static_cast<int64_t>(total_));
  response->set_vertices(static_cast<int32_t>(mesh->vertices.size()));
  response->set_triangles(static_cast<int32_t>(mesh->triangles.size()));
  response->set_tetrahedra(static_cast<int32_t>(mesh->tets.size()));
  return services_->uploads.Add(sha256_, file_name_, std::move(data_), *std::move(room_));
}

}  // namespace eipc::rpc
