#include "sim/mesh/mesh_formats.h"

#include <filesystem>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/mesh/mesh_readers.h"
#include "sim/mesh/write_mesh.h"

namespace eipc {
namespace {

constexpr MeshFormat kFormats[] = {
    {"Wavefront OBJ", ".obj", "polygons; a backslash continues a line", false, true, ReadObj, ToObj},
    {"OFF", ".off", "ASCII; polygons", false, true, ReadOff, nullptr},
    {"PLY", ".ply", "ASCII, binary of either byte order; polygons", false, true, ReadPly, nullptr},
    {"STL", ".stl", "ASCII, binary; equal corners become one vertex", false, true, ReadStl, nullptr},
    {"VTK legacy", ".vtk", "versions 2 to 5, ASCII, binary; unstructured grids, polygons", true, true, ReadVtk, ToVtk},
    {"VTK XML", ".vtu", "one piece; ASCII, base64, appended, zlib", true, true, ReadVtu, nullptr},
    {"Gmsh MSH", ".msh", "versions 2 and 4.1 ASCII and binary, 4.0 ASCII; of second-order cells the corners", true, true, ReadMsh,
     nullptr},
    {"Medit", ".mesh", "ASCII; quadrilaterals", true, true, ReadMedit, nullptr},
};

std::string ExtensionOf(const std::string& file_name) {
  return absl::AsciiStrToLower(std::filesystem::path(file_name).extension().string());
}

}  // namespace

absl::Span<const MeshFormat> MeshFormats() { return kFormats; }

const MeshFormat* FindMeshFormat(const std::string& file_name) {
  const std::string extension = ExtensionOf(file_name);
  for (const MeshFormat& format : kFormats) {
    if (format.extension == extension) return &format;
  }
  return nullptr;
}

absl::StatusOr<const MeshFormat*> ReadableMeshFormat(const std::string& file_name) {
  if (const MeshFormat* format = FindMeshFormat(file_name); format != nullptr) return format;
  return absl::InvalidArgumentError(absl::StrCat(file_name, ": unknown extension '", ExtensionOf(file_name),
                                                 "'; supported: ", MeshExtensions(), "; convert the mesh to one of these"));
}

std::string MeshExtensions(bool (*which)(const MeshFormat&)) {
  std::vector<absl::string_view> extensions;
  for (const MeshFormat& format : kFormats) {
    if (which(format)) extensions.push_back(format.extension);
  }
  return absl::StrJoin(extensions, ", ");
}

}  // namespace eipc
