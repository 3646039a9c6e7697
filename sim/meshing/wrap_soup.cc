#include <CGAL/alpha_wrap_3.h>

#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "sim/meshing/repair_steps.h"
#include "sim/meshing/surface_mesh_convert.h"

namespace eipc {

absl::StatusOr<MeshData> WrapSoup(const MeshData& soup, double alpha_m, double offset_m) {
  try {
    cgal::Mesh wrap;
    CGAL::alpha_wrap_3(cgal::Points(soup), cgal::Polygons(soup), alpha_m, offset_m, wrap);
    return cgal::ToMeshData(wrap);
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the mesh
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("wrapping failed: ", error.what()));
  }
}

}  // namespace eipc
