#include "sim/mesh/write_mesh.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/mesh/mesh_formats.h"

namespace eipc {
namespace {

std::string Point(const Vec3& p) { return absl::StrFormat("%.17g %.17g %.17g\n", p.x(), p.y(), p.z()); }

}  // namespace

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

absl::Status WriteMesh(const std::string& path, const MeshData& mesh) {
  const MeshFormat* format = FindMeshFormat(path);
  const bool tets = !mesh.tets.empty();
  if (format == nullptr || format->write == nullptr || (tets && !format->holds_tets)) {
    const std::string written = tets ? MeshExtensions([](const MeshFormat& f) { return f.write != nullptr && f.holds_tets; })
                                     : MeshExtensions([](const MeshFormat& f) { return f.write != nullptr; });
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", tets ? "tetrahedra" : "triangles", " are not written to this extension; supported: ", written));
  }
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << format->write(mesh);
  out.close();
  if (!out) return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
  return absl::OkStatus();
}

}  // namespace eipc
