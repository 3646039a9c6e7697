#include <CGAL/Polygon_mesh_processing/remesh.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "sim/meshing/sheet_steps.h"
#include "sim/meshing/surface_mesh_convert.h"

namespace eipc {
namespace {

namespace PMP = CGAL::Polygon_mesh_processing;
using cgal::Mesh;

constexpr int kRounds = 12;
// Edges at which the sheet turns by more than this are kept, and corners of its border.
constexpr double kSharpDegrees = 40;

Vec3 At(const Mesh& mesh, Mesh::Vertex_index v) {
  const auto& p = mesh.point(v);
  return {p.x(), p.y(), p.z()};
}

double Turn(const Vec3& before, const Vec3& after) {
  return std::atan2(before.cross(after).norm(), before.dot(after)) * 180 / M_PI;
}

Vec3 Normal(const Mesh& mesh, Mesh::Halfedge_index h) {
  const Vec3 a = At(mesh, mesh.source(h)), b = At(mesh, mesh.target(h)), c = At(mesh, mesh.target(mesh.next(h)));
  return (b - a).cross(c - a);
}

}  // namespace

absl::StatusOr<MeshData> RemeshSheet(const MeshData& data, double edge_m) {
  try {
    Mesh mesh;
    if (!cgal::ToSurfaceMesh(data, &mesh)) return absl::InvalidArgumentError("not a manifold mesh");
    auto kept_edge = mesh.add_property_map<Mesh::Edge_index, bool>("e:kept", false).first;
    auto kept_vertex = mesh.add_property_map<Mesh::Vertex_index, bool>("v:kept", false).first;
    for (const auto e : mesh.edges()) {
      const auto h = mesh.halfedge(e);
      if (mesh.is_border(e)) {
        kept_edge[e] = true;
      } else if (Turn(Normal(mesh, h), Normal(mesh, mesh.opposite(h))) > kSharpDegrees) {
        kept_edge[e] = true;
      }
    }
    for (const auto h : mesh.halfedges()) {
      if (!mesh.is_border(h)) continue;
      const Vec3 at = At(mesh, mesh.target(h));
      if (Turn(at - At(mesh, mesh.source(h)), At(mesh, mesh.target(mesh.next(h))) - at) > kSharpDegrees) {
        kept_vertex[mesh.target(h)] = true;
      }
    }
    PMP::isotropic_remeshing(mesh.faces(), edge_m, mesh,
                             CGAL::parameters::number_of_iterations(kRounds)
                                 .number_of_relaxation_steps(3)
                                 .relax_constraints(true)
                                 .edge_is_constrained_map(kept_edge)
                                 .vertex_is_constrained_map(kept_vertex));
    return cgal::ToMeshData(mesh);
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the mesh
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("remeshing failed: ", error.what()));
  }
}

}  // namespace eipc
