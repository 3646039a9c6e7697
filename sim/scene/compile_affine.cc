#include <optional>

#include "sim/mesh/mass_properties.h"
#include "sim/meshing/enclosing_tet.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/body_parts.h"

namespace eipc {
namespace {

// integral N N^T over the whole solid, in closed form from its volume, centre and inertia: one tetrahedron holds it all.
CageIntegrals IntegrateSolidInTet(const TetMesh& tet, const SurfaceMesh& surface) {
  const MassProperties unit = SolidMassProperties(surface.vertices(), surface.triangles(), 1.0);
  Eigen::Matrix4d corners;
  for (int a = 0; a < 4; ++a) corners.col(a) << tet.vertices()[tet.tets()[0][a]] - unit.center_of_mass, 1;
  const Eigen::Matrix4d inverse = corners.inverse();  // N = inverse * (x - c, 1)
  Eigen::Matrix4d moments = Eigen::Matrix4d::Zero();
  moments.topLeftCorner<3, 3>() = 0.5 * unit.inertia.trace() * Mat3::Identity() - unit.inertia;
  moments(3, 3) = unit.mass;
  const Eigen::Matrix4d product = inverse * moments * inverse.transpose();
  CageIntegrals out;
  out.elastic_volume = {unit.mass};
  out.shape_product.resize(1);
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) out.shape_product[0][4 * a + b] = product(a, b);
  }
  return out;
}

}  // namespace

void CompileAffine(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems) {
  const std::string mesh_path = MeshPath(spec, path);
  const std::optional<SurfaceMesh> surface = ReadSurface(spec, mesh_path, problems);
  if (!surface || !BoundsSolid(*surface, mesh_path, problems)) return;
  PlaceSurface(*surface, spec, out);
  const TetMesh tet = EnclosingTet(surface->vertices());
  if (!Embed(tet, *surface, spec, mesh_path, out, problems)) return;
  AddElements(tet, IntegrateSolidInTet(tet, *surface), spec.material, out);
}

}  // namespace eipc
