#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {
namespace {

// 17 significant digits: every double reads back as itself.
std::string Point(const Vec3& p) { return absl::StrFormat("%.17g %.17g %.17g\n", p.x(), p.y(), p.z()); }

std::string ToObj(const MeshData& mesh) {
  std::string out;
  for (const Vec3& p : mesh.vertices) absl::StrAppend(&out, "v ", Point(p));
  for (const Triangle& t : mesh.triangles) absl::StrAppend(&out, "f ", t[0] + 1, " ", t[1] + 1, " ", t[2] + 1, "\n");
  return out;
}

std::string ToVtk(const MeshData& mesh) {
  std::string out = "# vtk DataFile Version 3.0\neipc mesh\nASCII\nDATASET UNSTRUCTURED_GRID\n";
  absl::StrAppend(&out, "POINTS ", mesh.vertices.size(), " double\n");
  for (const Vec3& p : mesh.vertices) absl::StrAppend(&out, Point(p));
  const bool tets = !mesh.tets.empty();
  const size_t cells = tets ? mesh.tets.size() : mesh.triangles.size();
  absl::StrAppend(&out, "CELLS ", cells, " ", cells * (tets ? 5 : 4), "\n");
  if (tets) {
    for (const Tet& t : mesh.tets) absl::StrAppend(&out, "4 ", t[0], " ", t[1], " ", t[2], " ", t[3], "\n");
  } else {
    for (const Triangle& t : mesh.triangles) absl::StrAppend(&out, "3 ", t[0], " ", t[1], " ", t[2], "\n");
  }
  absl::StrAppend(&out, "CELL_TYPES ", cells, "\n");
  for (size_t c = 0; c < cells; ++c) absl::StrAppend(&out, tets ? "10\n" : "5\n");
  return out;
}

}  // namespace

absl::Status WriteMesh(const std::string& path, const MeshData& mesh) {
  const std::string extension = absl::AsciiStrToLower(std::filesystem::path(path).extension().string());
  std::string content;
  if (extension == ".vtk") {
    content = ToVtk(mesh);
  } else if (extension == ".obj" && mesh.tets.empty()) {
    content = ToObj(mesh);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat(path, mesh.tets.empty() ? ": meshes are written as .vtk or .obj" : ": tetrahedra are written as .vtk"));
  }
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << content;
  out.close();
  if (!out) return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
  return absl::OkStatus();
}

}  // namespace eipc
