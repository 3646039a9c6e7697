#include "server/convert/mesh_convert.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/array_convert.h"
#include "sim/base/memory_meter.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/read_mesh.h"
#include "sim/scene/problems.h"

namespace eipc {
namespace {

// RESOURCE_EXHAUSTED from the meter; other problems are added.
absl::StatusOr<MeshData> MeshFromArrays(const v1::MeshArrays& arrays, const std::string& path, MemoryMeter* meter,
                                        Problems* problems) {
  // As many bytes again at most twice: FLOAT32 and indices of another width become wider.
  const int64_t bytes = static_cast<int64_t>(arrays.vertices().data().size() + arrays.cells().data().size());
  EIPC_RETURN_IF_ERROR(AddTo(meter, 4 * bytes));
  absl::StatusOr<std::vector<Vec3>> vertices = PointsFromProto(arrays.vertices());
  if (!vertices.ok()) problems->Add(absl::StrCat(path, ".vertices"), vertices.status().message());
  const absl::StatusOr<IndexRows> cells = IndexRowsFromProto(arrays.cells());
  if (!cells.ok()) {
    problems->Add(absl::StrCat(path, ".cells"), cells.status().message());
    return MeshData();
  }
  if (cells->width != 3 && cells->width != 4) {
    problems->Add(absl::StrCat(path, ".cells"), "must have shape [m,4] (tetrahedra) or [m,3] (triangles), got [m,", cells->width,
                  "]");
    return MeshData();
  }
  if (!vertices.ok()) return MeshData();
  MeshData mesh;
  mesh.vertices = *std::move(vertices);
  const std::vector<int32_t>& values = cells->values;
  (cells->width == 4 ? mesh.tets.reserve(values.size() / 4) : mesh.triangles.reserve(values.size() / 3));
  for (size_t i = 0; i < values.size(); i += cells->width) {
    if (cells->width == 4) {
      mesh.tets.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
    } else {
      mesh.triangles.push_back({values[i], values[i + 1], values[i + 2]});
    }
  }
  return mesh;
}

}  // namespace

template <typename Key, typename ReadIt>
absl::StatusOr<MeshData> MeshReader::Once(std::map<Key, absl::StatusOr<Shared>>* known, const Key& key, ReadIt&& read) {
  auto found = known->find(key);
  if (found == known->end()) {
    absl::StatusOr<MeshData> mesh = read();
    const bool ok = mesh.ok();
    found =
        known->emplace(key, ok ? absl::StatusOr<Shared>(std::make_shared<const MeshData>(*std::move(mesh))) : mesh.status()).first;
  }
  EIPC_RETURN_IF_ERROR(found->second.status());
  const MeshData& mesh = **found->second;
  EIPC_RETURN_IF_ERROR(Count(mesh));
  EIPC_RETURN_IF_ERROR(AddTo(limits_.meter, mesh.bytes()));
  return mesh;
}

absl::Status MeshReader::Count(const MeshData& mesh) {
  vertices_ += static_cast<int64_t>(mesh.vertices.size());
  if (vertices_ <= limits_.max_vertices) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("SCENE_TOO_LARGE: ", vertices_, " mesh vertices, the server takes at most ", limits_.max_vertices));
}

absl::StatusOr<MeshData> MeshReader::ReadFile(const std::string& reference) {
  return Once(&files_, reference, [&]() -> absl::StatusOr<MeshData> {
    EIPC_ASSIGN_OR_RETURN(const std::string path, resolver_.Resolve(reference));
    absl::StatusOr<MeshData> mesh = ReadMesh(path, limits_.meter);
    if (mesh.ok()) return mesh;
    // Clients know the reference; where the server keeps its files is none of their business.
    return absl::Status(mesh.status().code(), absl::StrReplaceAll(mesh.status().message(), {{path, reference}}));
  });
}

absl::StatusOr<MeshData> MeshReader::ReadSharedFile(int index) {
  const int count = scene_ == nullptr ? 0 : scene_->shared_files_size();
  if (index < 0 || index >= count) {
    return absl::InvalidArgumentError(absl::StrCat("is ", index, "; the scene has ", count, " shared_files"));
  }
  const v1::MeshFile& file = scene_->shared_files(index);
  return Once(&shared_files_, index, [&] { return ParseMesh(file.data(), file.file_name(), limits_.meter); });
}

MeshData MeshReader::ReadSource(const v1::Mesh& mesh, const std::string& path, Problems* problems) {
  absl::StatusOr<MeshData> read;
  std::string field;
  switch (mesh.source_case()) {
    case v1::Mesh::kFile:
      field = ".file";
      read = ReadFile(mesh.file());
      break;
    case v1::Mesh::kSharedFile:
      field = ".shared_file";
      read = ReadSharedFile(mesh.shared_file());
      break;
    case v1::Mesh::kArrays:
      field = ".arrays";
      read = MeshFromArrays(mesh.arrays(), absl::StrCat(path, field), limits_.meter, problems);
      break;
    case v1::Mesh::kContents:
      field = ".contents";
      read = ParseMesh(mesh.contents().data(), mesh.contents().file_name(), limits_.meter);
      break;
    case v1::Mesh::SOURCE_NOT_SET:
      problems->Add(path, "must have a file, arrays, contents or a shared_file");
      return {};
  }
  const bool once = mesh.source_case() == v1::Mesh::kFile || mesh.source_case() == v1::Mesh::kSharedFile;
  if (read.ok() && !once) {
    if (absl::Status counted = Count(*read); !counted.ok()) read = counted;
  }
  if (read.ok()) return *std::move(read);
  if (absl::IsResourceExhausted(read.status())) {
    status_ = read.status();
  } else {
    problems->Add(path + field, read.status().message());
  }
  return {};
}

MeshData MeshReader::Read(const v1::Mesh& mesh, const std::string& path, Problems* problems) {
  if (!status_.ok()) return {};
  MeshData result = ReadSource(mesh, path, problems);
  if (mesh.scale() == 0) return result;
  // Not finite is reported with the other numbers; zero means one.
  if (mesh.scale() < 0) problems->Add(absl::StrCat(path, ".scale"), "must be > 0, got ", mesh.scale());
  for (Vec3& vertex : result.vertices) vertex *= mesh.scale();
  return result;
}

}  // namespace eipc
