#ifndef EIPC_SIM_MESHING_SURFACE_MESH_CONVERT_H_
#define EIPC_SIM_MESHING_SURFACE_MESH_CONVERT_H_

// Between MeshData and CGAL's surface meshes. Only for the few units that include CGAL.

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Surface_mesh.h>

#include <vector>

#include "sim/mesh/mesh_data.h"

namespace eipc::cgal {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Mesh = CGAL::Surface_mesh<Kernel::Point_3>;

inline std::vector<Kernel::Point_3> Points(const MeshData& mesh) {
  std::vector<Kernel::Point_3> points;
  points.reserve(mesh.vertices.size());
  for (const Vec3& p : mesh.vertices) points.emplace_back(p.x(), p.y(), p.z());
  return points;
}

inline std::vector<std::vector<std::size_t>> Polygons(const MeshData& mesh) {
  std::vector<std::vector<std::size_t>> polygons;
  polygons.reserve(mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) {
    polygons.push_back({static_cast<std::size_t>(t[0]), static_cast<std::size_t>(t[1]), static_cast<std::size_t>(t[2])});
  }
  return polygons;
}

inline MeshData ToMeshData(Mesh& mesh) {
  mesh.collect_garbage();
  MeshData out;
  for (const auto v : mesh.vertices()) {
    const auto& p = mesh.point(v);
    out.vertices.emplace_back(p.x(), p.y(), p.z());
  }
  for (const auto f : mesh.faces()) {
    Triangle triangle = {0, 0, 0};
    int k = 0;
    for (const auto v : CGAL::vertices_around_face(mesh.halfedge(f), mesh)) {
      if (k < 3) triangle[k++] = static_cast<int32_t>(v.idx());
    }
    out.triangles.push_back(triangle);
  }
  return out;
}

// False when the triangles do not form a manifold.
inline bool ToSurfaceMesh(const MeshData& data, Mesh* mesh) {
  std::vector<Mesh::Vertex_index> index;
  for (const Vec3& p : data.vertices) index.push_back(mesh->add_vertex({p.x(), p.y(), p.z()}));
  for (const Triangle& t : data.triangles) {
    if (mesh->add_face(index[t[0]], index[t[1]], index[t[2]]) == Mesh::null_face()) return false;
  }
  return true;
}

}  // namespace eipc::cgal

#endif  // EIPC_SIM_MESHING_SURFACE_MESH_CONVERT_H_
