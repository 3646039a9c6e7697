#include "server/convert/mesh_convert.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/array_convert.h"
#include "sim/base/status_macros.h"
#include "sim/scene/problems.h"

namespace eipc {
namespace {

MeshData MeshFromArrays(const v1::MeshArrays& arrays, const std::string& path, Problems* problems) {
  absl::StatusOr<std::vector<Vec3>> vertices = PointsFromProto(arrays.vertices());
  if (!vertices.ok()) problems->Add(absl::StrCat(path, ".vertices"), vertices.status().message());
  const absl::StatusOr<IndexRows> cells = IndexRowsFromProto(arrays.cells());
  if (!cells.ok()) {
    problems->Add(absl::StrCat(path, ".cells"), cells.status().message());
    return {};
  }
  if (cells->width != 3 && cells->width != 4) {
    problems->Add(absl::StrCat(path, ".cells"), "must have shape [m,4] (tetrahedra) or [m,3] (triangles), got [m,", cells->width,
                  "]");
    return {};
  }
  if (!vertices.ok()) return {};
  MeshData mesh;
  mesh.vertices = *std::move(vertices);
  const std::vector<int32_t>& values = cells->values;
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

absl::StatusOr<MeshData> MeshReader::ReadFile(const std::string& reference) {
  const auto found = files_.find(reference);
  if (found != files_.end()) return found->second;
  const auto read = [&]() -> absl::StatusOr<MeshData> {
    EIPC_ASSIGN_OR_RETURN(const std::string path, resolver_.Resolve(reference));
    absl::StatusOr<MeshData> mesh = ReadMesh(path);
    if (mesh.ok()) return mesh;
    // Clients know the reference; where the server keeps its files is none of their business.
    return absl::Status(mesh.status().code(), absl::StrReplaceAll(mesh.status().message(), {{path, reference}}));
  };
  return files_.emplace(reference, read()).first->second;
}

MeshData MeshReader::Read(const v1::Mesh& mesh, const std::string& path, Problems* problems) {
  MeshData result;
  switch (mesh.source_case()) {
    case v1::Mesh::kFile: {
      absl::StatusOr<MeshData> read = ReadFile(mesh.file());
      if (!read.ok()) {
        problems->Add(absl::StrCat(path, ".file"), read.status().message());
        return {};
      }
      result = *std::move(read);
      break;
    }
    case v1::Mesh::kArrays:
      result = MeshFromArrays(mesh.arrays(), absl::StrCat(path, ".arrays"), problems);
      break;
    case v1::Mesh::kContents: {
      absl::StatusOr<MeshData> read = ParseMesh(mesh.contents().data(), mesh.contents().file_name());
      if (!read.ok()) {
        problems->Add(absl::StrCat(path, ".contents"), read.status().message());
        return {};
      }
      result = *std::move(read);
      break;
    }
    case v1::Mesh::SOURCE_NOT_SET:
      problems->Add(path, "must have a file, arrays or contents");
      return {};
  }
  if (mesh.scale() == 0) return result;
  // Not finite is reported with the other numbers; zero means one.
  if (mesh.scale() < 0) problems->Add(absl::StrCat(path, ".scale"), "must be > 0, got ", mesh.scale());
  for (Vec3& vertex : result.vertices) vertex *= mesh.scale();
  return result;
}

}  // namespace eipc
