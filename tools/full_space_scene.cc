#include "tools/full_space_scene.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

constexpr int kLeastReferenceVertices = 1000;
constexpr int kMostReferenceVertices = 20000;
// Half the size of a cage's tetrahedra.
constexpr int kFinerBy = 8;

// Vertices of a boundary set are nodes of the cage; those of another space have other numbers.
absl::Status CheckBoundarySets(const BodySpec& body) {
  for (const BoundarySetSpec& set : body.boundary_sets) {
    if (set.vertices.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--compare-full: bodies[", body.name, "].boundary_sets[", set.name,
        "].vertices: they number the cage's vertices, which the full space does not have; select them by `box` instead"));
  }
  return absl::OkStatus();
}

absl::Status MakeFull(BodySpec* body) {
  EIPC_RETURN_IF_ERROR(CheckBoundarySets(*body));
  const int vertices = body->cage ? static_cast<int>(body->cage->vertices.size()) : body->cage_vertices;
  body->cage.reset();
  body->calibration.reset();
  body->coarse_space = CoarseSpace::kPlain;
  body->cage_vertices = 0;
  if (!body->mesh.tets.empty()) {
    body->kind = BodyKind::kFullSpace;
    return absl::OkStatus();
  }
  body->cage_vertices = std::max(kLeastReferenceVertices, kFinerBy * vertices);
  if (vertices <= kMostReferenceVertices / kFinerBy) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--compare-full: bodies[", body->name, "]: a cage of ", vertices,
                                                 " vertices is too fine to be compared with a finer one (at most ",
                                                 kMostReferenceVertices / kFinerBy,
                                                 "); give `surface` as a tetrahedral mesh of the object"));
}

}  // namespace

absl::StatusOr<FullSpaceScene> InFullSpace(const SceneSpec& spec) {
  FullSpaceScene full = {spec, {}};
  full.spec.solver.audit_every_n_steps = 0;  // a scene's audit is that of its own run
  for (size_t b = 0; b < full.spec.bodies.size(); ++b) {
    BodySpec& body = full.spec.bodies[b];
    if (body.kind != BodyKind::kEmbedded) continue;
    EIPC_RETURN_IF_ERROR(MakeFull(&body));
    full.compared.push_back({static_cast<int>(b), body.kind == BodyKind::kFullSpace});
  }
  if (full.compared.empty()) {
    return absl::InvalidArgumentError(
        "--compare-full: the scene has no embedded body, so there is no cage to compare with its object");
  }
  return full;
}

}  // namespace eipc
