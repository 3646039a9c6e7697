#include "sim/scene/joint_contact.h"

#include <vector>

#include "sim/audit/audit.h"

namespace eipc {
namespace {

Box BoxOf(const Model& model, const Body& body) {
  Box box;
  for (int32_t v = body.vertices.begin; v < body.vertices.end; ++v) box.Include(model.surface.rest_positions[v]);
  return box;
}

// Their surfaces have a point in common, or one of them lies inside the other; exact.
bool Overlap(const Model& model, int32_t a, int32_t b) {
  const CollisionSurface& s = model.surface;
  const Box box_a = BoxOf(model, model.bodies[a]), box_b = BoxOf(model, model.bodies[b]);
  if (!box_a.Overlaps(box_b)) return false;
  std::vector<Triangle> triangles;
  std::vector<int32_t> owners;
  for (const int32_t body : {a, b}) {
    const IndexRange& range = model.bodies[body].triangles;
    triangles.insert(triangles.end(), s.triangles.begin() + range.begin, s.triangles.begin() + range.end);
    owners.resize(triangles.size(), body == a ? 0 : 1);
  }
  const std::vector<uint8_t> enabled = {0, 1, 1, 0};
  return !AuditSurfaces({&s.rest_positions, &triangles, &owners, 2, &enabled}, true).clean();
}

bool SceneSays(const SceneSpec& spec, const std::string& a, const std::string& b) {
  for (const ContactPairSpec& pair : spec.contact_pairs) {
    const bool match = (pair.body_a == a && pair.body_b == b) || (pair.body_a == b && pair.body_b == a);
    if (match && pair.enabled) return true;
  }
  return false;
}

}  // namespace

JointContact SetJointContact(const SceneSpec& spec, const std::optional<bool>& asked, int32_t body_a, int32_t body_b,
                             Model* model) {
  if (body_b < 0) return JointContact::kOn;
  CollisionSurface& s = model->surface;
  uint8_t& forward = s.pair_enabled[body_a * s.body_count + body_b];
  uint8_t& backward = s.pair_enabled[body_b * s.body_count + body_a];
  const auto disable = [&](JointContact why) {
    forward = backward = 0;
    return why;
  };
  if (asked && !*asked) return disable(JointContact::kOffByScene);
  if (!forward && !backward) return JointContact::kOffByScene;
  if (asked || SceneSays(spec, spec.bodies[body_a].name, spec.bodies[body_b].name)) return JointContact::kOn;
  return Overlap(*model, body_a, body_b) ? disable(JointContact::kOffByOverlap) : JointContact::kOn;
}

}  // namespace eipc
