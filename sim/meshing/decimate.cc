#include <CGAL/Surface_mesh_simplification/Policies/Edge_collapse/Count_ratio_stop_predicate.h>
#include <CGAL/Surface_mesh_simplification/Policies/Edge_collapse/Count_stop_predicate.h>
#include <CGAL/Surface_mesh_simplification/Policies/Edge_collapse/LindstromTurk_cost.h>
#include <CGAL/Surface_mesh_simplification/Policies/Edge_collapse/LindstromTurk_placement.h>
#include <CGAL/Surface_mesh_simplification/edge_collapse.h>

#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "sim/meshing/repair_steps.h"
#include "sim/meshing/surface_mesh_convert.h"

namespace eipc {

absl::StatusOr<MeshData> Decimate(const MeshData& data, int64_t faces) {
  namespace SMS = CGAL::Surface_mesh_simplification;
  try {
    cgal::Mesh mesh;
    if (!cgal::ToSurfaceMesh(data, &mesh)) return absl::InvalidArgumentError("not a manifold mesh");
    const SMS::Count_stop_predicate<cgal::Mesh> stop(static_cast<std::size_t>(faces * 3 / 2));  // counts edges
    SMS::edge_collapse(mesh, stop,
                       CGAL::parameters::get_cost(SMS::LindstromTurk_cost<cgal::Mesh>())
                           .get_placement(SMS::LindstromTurk_placement<cgal::Mesh>()));
    return cgal::ToMeshData(mesh);
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the mesh
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("decimation failed: ", error.what()));
  }
}

}  // namespace eipc
