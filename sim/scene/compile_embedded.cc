#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/base/status_macros.h"
#include "sim/mesh/used_vertices.h"
#include "sim/meshing/condensed_store.h"
#include "sim/meshing/locking.h"
#include "sim/meshing/make_cage.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/body_parts.h"
#include "sim/scene/coarse_space.h"

namespace eipc {
namespace {

std::optional<TetMesh> CageFor(const BodySpec& spec, const SurfaceMesh& surface, const std::string& path, CompiledBody* out,
                               Problems* problems) {
  if (spec.cage.has_value()) return ReadTets(*spec.cage, path + ".embedded.cage_mesh", problems, &out->node_of_vertex);
  absl::StatusOr<TetMesh> cage = MakeCage(surface, {.max_vertices = spec.cage_vertices, .interrupt = out->interrupt});
  if (!cage.ok()) {
    problems->Add(path + ".embedded.cage_vertices", cage.status().message());
    return std::nullopt;
  }
  out->node_of_vertex.resize(cage->vertices().size());
  std::iota(out->node_of_vertex.begin(), out->node_of_vertex.end(), 0);
  return *std::move(cage);
}

// What the body asks for, measured where it says nothing: the factors of a cage that nothing is to be done about are 1.
absl::StatusOr<CageCalibration> CalibrationFor(const BodySpec& spec, const TetMesh& cage, const SurfaceMesh& surface,
                                               Interrupt* interrupt) {
  CageCalibration applied = {1.0, spec.material.poissons_ratio};
  if (!spec.calibration->measured()) {
    applied.youngs_scale = spec.calibration->youngs_scale.value_or(1.0);
    applied.poissons_ratio = spec.calibration->poissons_ratio.value_or(spec.material.poissons_ratio);
    return applied;
  }
  // One tet moves as an affine body, which does not bend; a cage as fine as what it is compared with is taken as it is.
  if (cage.tets().size() == 1 || cage.vertices().size() > kMostCalibratedVertices) return applied;
  std::optional<TetMesh> own;
  if (!spec.mesh.tets.empty()) {
    EIPC_ASSIGN_OR_RETURN(own, TetMeshOfUsed(spec.mesh));
  }
  EIPC_ASSIGN_OR_RETURN(const Locking locking,
                        MeasureLocking(cage, surface, own ? &*own : nullptr, spec.material.poissons_ratio, interrupt));
  if (locking.helps()) applied = {locking.youngs_scale, locking.poissons_ratio};
  return applied;
}

// The material of the cage. Nothing: a problem was added.
std::optional<MaterialSpec> CageMaterial(const BodySpec& spec, const TetMesh& cage, const SurfaceMesh& surface,
                                         const std::string& path, CompiledBody* out, Problems* problems) {
  MaterialSpec material = spec.material;
  if (!spec.calibration) return material;
  const absl::StatusOr<CageCalibration> calibration = CalibrationFor(spec, cage, surface, out->interrupt);
  if (!calibration.ok()) {
    problems->Add(path + ".embedded.calibration", "cannot be measured (give youngs_scale): ", calibration.status().message());
    return std::nullopt;
  }
  out->calibration = *calibration;
  material.youngs_modulus_pa *= *calibration->youngs_scale;
  material.poissons_ratio = *calibration->poissons_ratio;
  return material;
}

void CheckCoarseSpace(const BodySpec& spec, const std::string& path, Problems* problems) {
  if (spec.coarse_space != CoarseSpace::kCondensed) return;
  if (spec.calibration) {
    problems->Add(path + ".calibration", "belongs to the plain coarse space; leave it out, or name coarse_space: PLAIN");
  }
  if (const std::string why = WhyNotCondensed(spec.material.model); !why.empty()) {
    problems->Add(path + ".coarse_space", why, " (", spec.material.model->name, "); name another material, or PLAIN");
  }
}

// The stiffness of the object's fine model, where the body asks for it, unless `out` has it already.
void AddCondensed(const BodySpec& spec, const TetMesh& cage, const SurfaceMesh& surface, const std::string& path, CompiledBody* out,
                  Problems* problems) {
  if (spec.coarse_space != CoarseSpace::kCondensed || out->elastic.condensed != nullptr) return;
  if (cage.vertices().size() > kMostCondensedVertices) {
    problems->Add(path + ".embedded.coarse_space", "CONDENSED is for cages of at most ", kMostCondensedVertices,
                  " vertices; this one has ", cage.vertices().size());
    return;
  }
  std::optional<TetMesh> own;
  if (!spec.mesh.tets.empty()) own = ReadTets(spec.mesh, MeshPath(spec, path), problems);
  absl::StatusOr<CondensedStiffness> condensed = CondenseOnce(
      cage, surface, own ? &*own : nullptr, {spec.material.youngs_modulus_pa, spec.material.poissons_ratio}, out->interrupt);
  if (!condensed.ok()) {
    problems->Add(path + ".embedded.coarse_space", "the body cannot be condensed (name PLAIN): ", condensed.status().message());
    return;
  }
  out->elastic.condensed = std::make_shared<const CondensedStiffness>(*std::move(condensed));
}

}  // namespace

void CheckEmbedded(const BodySpec& spec, const std::string& path, Problems* problems) {
  if (!spec.cage.has_value() && spec.cage_vertices < 4) {
    problems->Add(path + ".embedded.cage_vertices", "must be >= 4 (or give cage_mesh), got ", spec.cage_vertices);
  }
  CheckCoarseSpace(spec, path + ".embedded", problems);
  if (!spec.calibration) return;
  const CageCalibration& c = *spec.calibration;
  if (c.youngs_scale && !(*c.youngs_scale > 0 && std::isfinite(*c.youngs_scale))) {
    problems->Add(path + ".embedded.calibration.youngs_scale", "must be > 0, got ", *c.youngs_scale);
  }
  if (c.poissons_ratio && !(*c.poissons_ratio >= 0 && *c.poissons_ratio < 0.5)) {
    problems->Add(path + ".embedded.calibration.poissons_ratio", "must be in [0, 0.5), got ", *c.poissons_ratio);
  }
}

void CompileEmbedded(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems) {
  const std::string mesh_path = MeshPath(spec, path);
  const std::optional<SurfaceMesh> surface = ReadSurface(spec, mesh_path, problems);
  if (!surface || !BoundsSolid(*surface, mesh_path, problems)) return;
  PlaceSurface(*surface, spec, out);
  const std::optional<TetMesh> cage = CageFor(spec, *surface, path, out, problems);
  if (!cage || !Embed(*cage, *surface, spec, path + ".embedded", out, problems)) return;
  absl::StatusOr<CageIntegrals> integrals = IntegrateSolidOverCage(*cage, *surface, out->interrupt);
  if (!integrals.ok()) {
    problems->Add(path + ".embedded", integrals.status().message());
    return;
  }
  const std::optional<MaterialSpec> material = CageMaterial(spec, *cage, *surface, path, out, problems);
  if (!material) return;
  AddElements(*cage, *integrals, *material, out);
  AddCondensed(spec, *cage, *surface, path, out, problems);
}

}  // namespace eipc
