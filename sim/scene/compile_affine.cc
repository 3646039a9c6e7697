#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <array>
#include <cmath>
#include <optional>

#include "sim/mesh/mass_properties.h"
#include "sim/meshing/enclosing_tet.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/body_parts.h"

namespace eipc {
namespace {

// Of the mass along the axis of a body along which it is spread least, to that along which it is spread most: numbers of a body
// that is thinner than this in the square do not come out.
constexpr double kLeastSpread = 1e-9;

// integral rho N N^T over the whole solid, in closed form from its mass, centre and inertia: one tetrahedron holds it all. `mass`:
// in the mesh frame.
std::array<double, 16> MassInTet(const TetMesh& tet, const MassProperties& mass) {
  Eigen::Matrix4d corners;
  for (int a = 0; a < 4; ++a) corners.col(a) << tet.vertices()[tet.tets()[0][a]] - mass.center_of_mass, 1;
  const Eigen::Matrix4d inverse = corners.inverse();  // N = inverse * (x - c, 1)
  Eigen::Matrix4d moments = Eigen::Matrix4d::Zero();
  moments.topLeftCorner<3, 3>() = 0.5 * mass.inertia.trace() * Mat3::Identity() - mass.inertia;
  moments(3, 3) = mass.mass;
  const Eigen::Matrix4d product = inverse * moments * inverse.transpose();
  std::array<double, 16> out;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) out[4 * a + b] = product(a, b);
  }
  return out;
}

// The mass that the scene gives, in place of that of the solid.
void SetGivenMass(const MassProperties& given, const Pose& pose, CompiledBody* out) {
  const Mat3 r = pose.rotation.toRotationMatrix();
  out->initial_pose.position = pose.Apply(given.center_of_mass);
  out->mass = {given.mass, out->initial_pose.position, r * given.inertia * r.transpose()};
}

}  // namespace

void CheckAffine(const BodySpec& spec, const std::string& path, Problems* problems) {
  if (!spec.inertia) return;
  const MassProperties& given = *spec.inertia;
  const std::string at = path + ".affine.inertia";
  if (!(given.mass > 0) || !std::isfinite(given.mass)) problems->Add(at + ".mass_kg", "must be > 0, got ", given.mass);
  if (!given.center_of_mass.allFinite()) problems->Add(at + ".center_m", "must be finite");
  if (!given.inertia.allFinite()) {
    problems->Add(at, "moments must be finite");
    return;
  }
  // integral of x x^T: what some distribution of mass has is positive definite.
  const Mat3 spread = 0.5 * given.inertia.trace() * Mat3::Identity() - given.inertia;
  const Vec3 along = Eigen::SelfAdjointEigenSolver<Mat3>(spread).eigenvalues();
  if (!(along[0] > kLeastSpread * along[2])) {
    problems->Add(at,
                  "is that of no body: principal moments must be > 0, and each below the sum of the other two; check the units");
  }
}

void CompileAffine(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems) {
  const std::string mesh_path = MeshPath(spec, path);
  const std::optional<SurfaceMesh> surface = ReadSurface(spec, mesh_path, problems);
  if (!surface || !BoundsSolid(*surface, mesh_path, problems)) return;
  PlaceSurface(*surface, spec, out);
  const TetMesh tet = EnclosingTet(surface->vertices());
  if (!Embed(tet, *surface, spec, mesh_path, out, problems)) return;
  const MassProperties unit = SolidMassProperties(surface->vertices(), surface->triangles(), 1.0);
  MaterialSpec material = spec.material;
  CageIntegrals integrals;
  integrals.elastic_volume = {unit.mass};
  integrals.shape_product = {MassInTet(tet, spec.inertia.value_or(unit))};
  if (spec.inertia) {
    material.density_kg_m3 = 1;  // its integrals have the mass
    SetGivenMass(*spec.inertia, spec.pose, out);
  }
  AddElements(tet, integrals, material, out);
  if (spec.inertia) out->material.density_kg_m3 = spec.inertia->mass / unit.mass;
}

}  // namespace eipc
