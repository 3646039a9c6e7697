// Stands in for mesh_implicit.cc in a build without the GPL parts; MakeCage then uses its lattice.
#include "sim/meshing/mesh_implicit.h"

namespace eipc {

absl::StatusOr<TetMesh> MeshImplicit(const std::function<double(const Vec3&)>&, const Vec3&, double, const ImplicitCriteria&) {
  return absl::UnimplementedError("implicit meshing needs a build with EIPC_GPL=ON");
}

}  // namespace eipc
