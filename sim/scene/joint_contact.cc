#include "sim/scene/joint_contact.h"

#include <algorithm>
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
bool Overlap(const Model& model, int32_t a, int32_t b, Interrupt* interrupt) {
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
  return !AuditSurfaces({&s.rest_positions, &triangles, &owners, 2, &enabled, interrupt}, true).clean();
}

bool SceneSays(const std::vector<const ContactPairSpec*>& pairs) {
  return std::any_of(pairs.begin(), pairs.end(), [](const ContactPairSpec* pair) { return pair->enabled.has_value(); });
}

}  // namespace

JointContact SetJointContact(const PairOverrides& pairs, const std::optional<bool>& asked, int32_t body_a, int32_t body_b,
                             Model* model, Interrupt* interrupt) {
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
  if (asked || SceneSays(pairs.Of(body_a, body_b))) return JointContact::kOn;
  return Overlap(*model, body_a, body_b, interrupt) ? disable(JointContact::kOffByOverlap) : JointContact::kOn;
}

}  // namespace eipc
