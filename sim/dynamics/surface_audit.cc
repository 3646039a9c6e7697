#include "sim/dynamics/surface_audit.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/collision/pair_dhat.h"
#include "sim/dynamics/model.h"

namespace eipc {
namespace {

AuditInput InputOf(const Model& model, const std::vector<Vec3>* x) {
  const CollisionSurface& s = model.surface;
  return {x, &s.triangles, &s.triangle_body, s.body_count, &s.pair_enabled};
}

// The first two features that are no further apart than thicknesses leave them.
std::string ThicknessConflict(const Model& model, const std::vector<Vec3>& x) {
  std::optional<AuditFeatures> close;
  LeastRelativeDistance(InputOf(model, &x), model.surface.sheets.body_half_thickness, [&](const AuditFeatures& features) {
    const double separation = RequiredSeparation(model, features);
    if (!close && separation > 0 && FeatureDistance(x, features) <= separation) close = features;
    return separation;
  });
  if (!close) return "";
  const auto name = [&](int32_t vertex) { return model.bodies[model.surface.vertex_body[vertex]].name; };
  return absl::StrCat("\"", name(close->v[0]), "\" and \"", name(close->v[2]), "\" are ", FeatureDistance(x, *close),
                      " m apart, where the thickness of shells needs more than ", RequiredSeparation(model, *close), " m");
}

}  // namespace

double RequiredSeparation(const Model& model, const AuditFeatures& features) {
  const CollisionSurface& s = model.surface;
  const int32_t a = s.vertex_body[features.v[0]], b = s.vertex_body[features.v[2]];
  if (a != b) return s.Offset(a, b);
  const ContactKind kind = features.edges ? ContactKind::kEdgeEdge : ContactKind::kPointTriangle;
  return OwnRange(s, kind, features.v, model.contact.dhat_m).offset;
}

AuditReport AuditSurfacesAt(const Model& model, const std::vector<Vec3>& x) {
  AuditReport report = AuditSurfaces(InputOf(model, &x), true);
  std::erase_if(report.nested, [&](const auto& pair) { return model.surface.IsThin(pair.second); });
  return report;
}

std::string StartConflict(const Model& model, const std::vector<Vec3>& x) {
  const AuditReport report = AuditSurfacesAt(model, x);
  if (report.clean()) return ThicknessConflict(model, x);
  const bool meets = !report.intersections.empty();
  const auto [a, b] = meets ? report.intersections[0] : report.nested[0];
  const auto name = [&](int32_t k) { return model.bodies[meets ? model.surface.triangle_body[k] : k].name; };
  return absl::StrCat("\"", name(a), "\" ", meets ? "intersects" : "lies inside", " \"", name(b), "\"");
}

}  // namespace eipc
