#ifndef EIPC_SIM_MESHING_ENCLOSURE_H_
#define EIPC_SIM_MESHING_ENCLOSURE_H_

#include <string>
#include <vector>

#include "sim/mesh/mesh_data.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {

// Whether cages enclose one surface: what depends on the surface alone is worked out once.
class Enclosure {
 public:
  // `tree` holds the surface's triangles; both must outlive this.
  Enclosure(const SurfaceMesh& surface, const TriangleTree& tree);

  // Decides exactly whether the tets form an embedded mesh (no tet inverted, boundary closed and free of self-intersections: then
  // no two tets overlap) whose interior holds the whole surface: no surface triangle meets the boundary, and every component lies
  // inside it. Empty when so, else what is wrong.
  std::string WhyNot(const MeshData& cage) const;
  // Exact: whether triangle abc (not collapsed) meets the surface.
  bool Meets(const Vec3& a, const Vec3& b, const Vec3& c) const;

 private:
  const SurfaceMesh& surface_;
  const TriangleTree& tree_;
  std::vector<bool> collapsed_;  // triangles whose edges are their neighbours' too
  std::vector<int32_t> component_vertices_;
};

// The same for one cage.
std::string WhyNotEnclosed(const MeshData& cage, const SurfaceMesh& surface);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_ENCLOSURE_H_
