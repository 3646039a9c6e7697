#include "tools/cage_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/mesh/mass_properties.h"
#include "sim/meshing/affine_suggestion.h"

namespace eipc {
namespace {

using Json = nlohmann::ordered_json;

Json ToArray(const Vec3& v) { return Json::array({v.x(), v.y(), v.z()}); }

Json FindingsReport(const MeshFindings& f) {
  return {{"vertices", f.vertices},
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
          {"scale_note", f.scale_note}};
}

Json DistanceReport(const SurfaceDistance& distance) {
  return {{"mean", distance.mean},
          {"max", distance.max},
          {"max_from_surface", distance.max_from_first},
          {"max_from_original", distance.max_from_second}};
}

}  // namespace

Json AffineReport(const AutoCage& result, double youngs_modulus_pa) {
  const AffineSuggestion suggestion = SuggestAffine(result.findings.high - result.findings.low, youngs_modulus_pa);
  return {{"suggested", suggestion.affine}, {"expected_strain", suggestion.strain}, {"reason", suggestion.reason}};
}

Json LockingReport(const CageLocking& locking) {
  if (!locking.measured) return {{"remedy", "none"}, {"reason", locking.reason}};
  const Locking& m = *locking.measured;
  Json json = {{"remedy", m.helps() ? "calibrated" : "none"},
               {"reference", locking.by_own_tets ? "the object's own tets" : "lattice"},
               {"reference_vertices", m.reference_vertices},
               {"youngs_scale", m.youngs_scale},
               {"poissons_ratio", m.poissons_ratio},
               {"held_out_mismatch_as_is", m.held_out_as_is},
               {"held_out_mismatch_calibrated", m.held_out_calibrated}};
  for (const LockingCase& c : m.cases) {
    json["stiffness_ratio"][c.name] = {{"as_is", c.as_is}, {"calibrated", c.calibrated}, {"held_out", !c.calibrates}};
  }
  return json;
}

Json CageErrorReport(const FoundCageError& found) {
  if (!found.measured) return {{"median", nullptr}, {"worst", nullptr}, {"reason", found.reason}};
  const CageError& error = *found.measured;
  Json loads = Json::object();
  for (const CageError::Load& load : error.loads) loads[load.name] = load.error;
  const CageError::Load* worst = error.worst();
  return {{"median", error.median()},
          {"worst", worst == nullptr ? 0 : std::abs(worst->error)},
          {"worst_load", worst == nullptr ? Json(nullptr) : Json(worst->name)},
          {"reference", found.by_own_tets ? "the object's own tets" : "lattice"},
          {"reference_vertices", error.reference_vertices},
          {"loads", loads}};
}

Json CageReport(const AutoCage& r, int budget) {
  const CageQuality& q = r.quality;
  const SurfaceMesh& surface = r.repaired.surface;
  const MassProperties mass = SolidMassProperties(surface.vertices(), surface.triangles(), 1);
  return {
      {"input", FindingsReport(r.findings)},
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
      {"distance_m", DistanceReport(r.repaired.distance)},
      {"mass_properties_error", q.mass_properties_error},
  };
}

Json SheetReport(const PreparedSheet& sheet, double thickness_m) {
  return {
      {"input", FindingsReport(sheet.findings)},
      {"repair", {{"method", sheet.method()}, {"steps", sheet.steps}}},
      {"surface", {{"vertices", sheet.surface.vertices().size()}, {"triangles", sheet.surface.triangles().size()}}},
      {"shell",
       {{"thickness_m", thickness_m},
        {"asked_edge_m", sheet.edge_m > 0 ? Json(sheet.edge_m) : Json(nullptr)},
        {"edge_m", {{"shortest", sheet.shortest_edge_m}, {"mean", sheet.mean_edge_m}, {"longest", sheet.longest_edge_m}}},
        {"least_angle_deg", sheet.least_angle_deg},
        {"mean_least_angle_deg", sheet.mean_least_angle_deg},
        {"area_m2", sheet.area_m2},
        {"components", sheet.components},
        {"borders", sheet.borders},
        {"bending", {{"stiffness_ratio", sheet.bending.stiffness_ratio}, {"wrong_share", sheet.bending.wrong_share}}},
        {"note", sheet.note}}},
      {"distance_m", DistanceReport(sheet.distance)},
  };
}

}  // namespace eipc
