#include "sim/scene/coarse_space.h"

#include <algorithm>

#include "sim/material/material.h"
#include "sim/meshing/cage_quality.h"

namespace eipc {
namespace {

bool Equal(const MeshData& a, const MeshData& b) {
  return a.tets == b.tets && a.triangles == b.triangles && a.vertices == b.vertices;
}

// The cage is the object's own tetrahedra: full space.
bool IsOwnMesh(const BodySpec& spec) {
  return spec.cage && spec.cage->vertices == spec.mesh.vertices && spec.cage->tets == spec.mesh.tets;
}

// Everything that the stiffness depends on.
bool HaveSameStiffness(const BodySpec& a, const BodySpec& b) {
  if (a.material.youngs_modulus_pa != b.material.youngs_modulus_pa || a.material.poissons_ratio != b.material.poissons_ratio ||
      a.cage_vertices != b.cage_vertices || a.cage.has_value() != b.cage.has_value()) {
    return false;
  }
  return Equal(a.mesh, b.mesh) && (!a.cage || Equal(*a.cage, *b.cage));
}

}  // namespace

int CageVertices(const BodySpec& spec) { return spec.cage ? static_cast<int>(spec.cage->vertices.size()) : spec.cage_vertices; }

std::string WhyNotCondensed(MaterialModel model) {
  if (model == &LogBarrierNeoHookean::kDescriptor) return "CONDENSED does not forbid inversion, which this material does";
  if (model == &AbdOrthogonality::kDescriptor) return "CONDENSED is for materials with elastic moduli, which this one has not";
  return "";
}

std::vector<int> SharedStiffness(const std::vector<BodySpec>& bodies) {
  std::vector<int> first(bodies.size(), -1), owners;
  for (size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].kind != BodyKind::kEmbedded || bodies[b].coarse_space != CoarseSpace::kCondensed) continue;
    const auto same =
        std::find_if(owners.begin(), owners.end(), [&](int owner) { return HaveSameStiffness(bodies[owner], bodies[b]); });
    first[b] = same == owners.end() ? static_cast<int>(b) : *same;
    if (same == owners.end()) owners.push_back(first[b]);
  }
  return first;
}

CoarseSpace DefaultCoarseSpace(const BodySpec& spec) {
  const bool plain = spec.calibration || spec.material.model == &LinearCorotated::kDescriptor ||
                     !WhyNotCondensed(spec.material.model).empty() || CageVertices(spec) > kMostVerticesCondensedByDefault ||
                     IsOwnMesh(spec) || CountSolidPieces(spec.mesh) > 1;
  return plain ? CoarseSpace::kPlain : CoarseSpace::kCondensed;
}

}  // namespace eipc
