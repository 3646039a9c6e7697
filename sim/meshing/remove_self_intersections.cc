#include <CGAL/Polygon_mesh_processing/orientation.h>
#include <CGAL/Polygon_mesh_processing/repair_self_intersections.h>

#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "sim/meshing/repair_steps.h"
#include "sim/meshing/surface_mesh_convert.h"

namespace eipc {

absl::StatusOr<MeshData> RemoveSelfIntersections(const MeshData& data) {
  try {
    cgal::Mesh mesh;
    if (!cgal::ToSurfaceMesh(data, &mesh)) return absl::InvalidArgumentError("not a manifold mesh");
    CGAL::Polygon_mesh_processing::experimental::remove_self_intersections(mesh, CGAL::parameters::preserve_genus(false));
    return cgal::ToMeshData(mesh);
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the mesh
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("removing self-intersections failed: ", error.what()));
  }
}

}  // namespace eipc
