#include "sim/meshing/check_input.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/index_errors.h"

namespace eipc {
namespace {

// Sizes of a body, m.
constexpr double kLeastSize = 1e-6;
constexpr double kMostSize = 1e6;

}  // namespace

absl::Status CheckIndices(const MeshData& mesh) {
  IndexErrors tets, triangles;
  for (size_t t = 0; t < mesh.tets.size(); ++t) {
    if (!AllInRange(mesh.tets[t], mesh.vertices.size())) tets.Add(t);
  }
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (!AllInRange(mesh.triangles[t], mesh.vertices.size())) triangles.Add(t);
  }
  const std::string outside = absl::StrFormat("refer to vertices outside 0..%d", static_cast<int64_t>(mesh.vertices.size()) - 1);
  EIPC_RETURN_IF_ERROR(tets.ToStatus("tetrahedra", outside));
  return triangles.ToStatus("triangles", outside);
}

absl::Status CheckSize(const MeshData& mesh) {
  if (mesh.vertices.empty()) return absl::InvalidArgumentError("no vertices");
  Vec3 low = mesh.vertices[0], high = low;
  double farthest = 0;
  for (size_t v = 0; v < mesh.vertices.size(); ++v) {
    const Vec3& p = mesh.vertices[v];
    if (!p.allFinite()) return absl::InvalidArgumentError(absl::StrCat("vertex ", v, " is not finite"));
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
    farthest = std::max(farthest, p.cwiseAbs().maxCoeff());
  }
  const double size = (high - low).maxCoeff();
  if (size >= kLeastSize && farthest <= kMostSize) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%.3g m large, with coordinates up to %.3g m: a body is %g to %g m large; are the units right?", size,
                      farthest, kLeastSize, kMostSize));
}

}  // namespace eipc
