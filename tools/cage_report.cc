#include "tools/cage_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "sim/meshing/locking.h"

namespace eipc {
namespace {

using Json = nlohmann::ordered_json;

// A firm grasp: this force on a patch of this share of the object's middle extent, squared. Strains below kSmallStrain then do not
// show: d-hat is 1e-3 m, and 1e-3 of a 0.1 m object is a tenth of it.
constexpr double kGraspForce = 20;
constexpr double kPatchShare = 0.3;
constexpr double kSmallStrain = 1e-3;

Json ToArray(const Vec3& v) { return Json::array({v.x(), v.y(), v.z()}); }

}  // namespace

Json AffineSuggestion(const AutoCage& result, double youngs_modulus_pa) {
  const Vec3 extent = result.findings.high - result.findings.low;
  const double middle = extent.sum() - extent.maxCoeff() - extent.minCoeff();
  const double pressure = kGraspForce / std::pow(kPatchShare * middle, 2);
  const double strain = pressure / youngs_modulus_pa;
  const bool affine = strain < kSmallStrain;
  return {{"suggested", affine},
          {"expected_strain", strain},
          {"reason", absl::StrFormat("%g N on a patch of (%.2g m)^2 strains E = %.3g Pa by %.2g, %s %g: %s", kGraspForce,
                                     kPatchShare * middle, youngs_modulus_pa, strain, affine ? "below" : "above", kSmallStrain,
                                     affine ? "simulate it as an affine body" : "simulate it as an embedded body")}};
}

Json LockingReport(const AutoCage& result, const MeshData& mesh, double poissons_ratio) {
  if (result.full_mesh) return {{"remedy", "none"}, {"reason", "the object's own mesh: nothing to compare with"}};
  if (result.cage.tets().size() == 1) return {{"remedy", "none"}, {"reason", "one tetrahedron: an affine body does not bend"}};
  if (result.cage.vertices().size() > kMostCalibratedVertices)
    return {{"remedy", "none"}, {"reason", "a cage this fine is taken as it is"}};
  const SurfaceMesh& surface = result.repaired.surface;
  absl::StatusOr<Locking> locking = absl::InvalidArgumentError("no tets");
  const bool own =
      !mesh.tets.empty() && result.findings.inverted_tets == 0 && result.repaired.method == "kept" && !result.repaired.decimated;
  const auto tets = TetMesh::Create(mesh.vertices, mesh.tets);
  if (own && tets.ok()) locking = MeasureLocking(result.cage, surface, &*tets, poissons_ratio);
  const bool by_own = locking.ok();
  if (!by_own) locking = MeasureLocking(result.cage, surface, nullptr, poissons_ratio);
  if (!locking.ok()) return {{"remedy", "none"}, {"reason", std::string(locking.status().message())}};
  Json json = {{"remedy", locking->helps() ? "calibrated" : "none"},
               {"reference", by_own ? "the object's own tets" : "lattice"},
               {"reference_vertices", locking->reference_vertices},
               {"youngs_scale", locking->youngs_scale},
               {"poissons_ratio", locking->poissons_ratio},
               {"held_out_mismatch_as_is", locking->held_out_as_is},
               {"held_out_mismatch_calibrated", locking->held_out_calibrated}};
  for (const LockingCase& c : locking->cases) {
    json["stiffness_ratio"][c.name] = {{"as_is", c.as_is}, {"calibrated", c.calibrated}, {"held_out", !c.calibrates}};
  }
  return json;
}

Json CageReport(const AutoCage& r, int budget) {
  const MeshFindings& f = r.findings;
  const CageQuality& q = r.quality;
  const SurfaceMesh& surface = r.repaired.surface;
  const MassProperties mass = SolidMassProperties(surface.vertices(), surface.triangles(), 1);
  return {
      {"input",
       {{"vertices", f.vertices},
        {"welded_vertices", f.welded_vertices},
        {"triangles", f.triangles},
        {"tets", f.tets},
        {"components", f.components},
        {"open_edges", f.open_edges},
        {"holes", f.holes},
        {"nonmanifold_edges", f.nonmanifold_edges},
        {"misoriented_edges", f.misoriented_edges},
        {"degenerate_triangles", f.degenerate_triangles},
        {"duplicate_triangles", f.duplicate_triangles},
        {"self_intersections", f.self_intersections},
        {"inverted_tets", f.inverted_tets},
        {"unused_vertices", f.unused_vertices},
        {"closed", f.closed()},
        {"extent_m", ToArray(f.high - f.low)},
        {"scale_note", f.scale_note}}},
      {"repair", {{"method", r.repaired.method}, {"steps", r.repaired.steps}, {"decimated", r.repaired.decimated}}},
      {"surface",
       {{"vertices", surface.vertices().size()},
        {"triangles", surface.triangles().size()},
        {"solids", q.solid_components},
        {"volume_m3", mass.mass},
        {"center_of_mass_m", ToArray(mass.center_of_mass)}}},
      {"cage",
       {{"budget", budget},
        {"vertices", r.cage.vertices().size()},
        {"tets", r.cage.tets().size()},
        {"min_dihedral_deg", q.min_dihedral_deg},
        {"max_dihedral_deg", q.max_dihedral_deg},
        {"enclosed", q.enclosed},
        {"full_mesh", r.full_mesh},
        {"components", q.components},
        {"volume_ratio", q.volume_ratio},
        {"least_solid_share", q.least_solid_share},
        {"shared_gap_tets", q.shared_gap_tets},
        {"note", r.note}}},
      {"distance_m",
       {{"mean", r.repaired.distance.mean},
        {"max", r.repaired.distance.max},
        {"max_from_surface", r.repaired.distance.max_from_first},
        {"max_from_original", r.repaired.distance.max_from_second}}},
      {"mass_properties_error", q.mass_properties_error},
  };
}

}  // namespace eipc
