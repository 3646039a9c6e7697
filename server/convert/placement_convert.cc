#include "server/convert/placement_convert.h"

#include <cmath>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "eipc/v1/service.pb.h"
#include "server/convert/geometry_convert.h"
#include "server/convert/material_convert.h"
#include "server/convert/wire_check.h"
#include "sim/scene/problems.h"

namespace eipc {
namespace {

constexpr int kDefaultAttempts = 100, kMaxAttempts = 10000;

// The body that a message names, -1 with a problem. A body is named once in all.
template <typename T>
int32_t FindFree(const Model& model, const T& message, const std::string& path, std::set<int32_t>* named, Problems* problems) {
  const int32_t body = model.FindBody(message.body());
  if (body < 0) {
    problems->Add(path + ".body", "no body '", absl::CEscape(message.body()), "'");
    return -1;
  }
  const std::string problem = PlacementProblem(model, body);
  if (!problem.empty()) problems->Add(path + ".body", problem);
  if (!named->insert(body).second) problems->Add(path + ".body", "'", message.body(), "' is named twice");
  return body;
}

PlacementRange::Bounds BoundsFromProto(const v1::Vec3& min, const v1::Vec3& max, const std::string& path, Problems* problems) {
  const PlacementRange::Bounds bounds = {Vec3FromProto(min), Vec3FromProto(max)};
  if ((bounds.min.array() > bounds.max.array()).any()) problems->Add(path, "the minimum must not be above the maximum");
  return bounds;
}

Placement PlacementFromProto(const Model& model, const v1::Placement& message, const std::string& path, std::set<int32_t>* named,
                             Problems* problems) {
  Placement placement;
  placement.body = FindFree(model, message, path, named, problems);
  placement.translation = Vec3FromProto(message.translation_m());
  placement.rotation = QuaternionFromProto(message.rotation(), path + ".rotation", problems);
  if (message.has_linear_velocity_m_s()) placement.linear_velocity = Vec3FromProto(message.linear_velocity_m_s());
  if (message.has_angular_velocity_rad_s()) placement.angular_velocity = Vec3FromProto(message.angular_velocity_rad_s());
  return placement;
}

PlacementRange RangeFromProto(const Model& model, const v1::PlacementRange& message, const std::string& path,
                              std::set<int32_t>* named, Problems* problems) {
  PlacementRange range;
  range.body = FindFree(model, message, path, named, problems);
  range.translation =
      BoundsFromProto(message.translation_min_m(), message.translation_max_m(), path + ".translation_min_m", problems);
  range.max_angle = message.rotation_max_rad();
  if (!(range.max_angle >= 0) || range.max_angle > M_PI) problems->Add(path + ".rotation_max_rad", "must be in [0, pi]");
  if (message.has_rotation_axis()) {
    const Vec3 axis = Vec3FromProto(message.rotation_axis());
    if (!(axis.norm() > 1e-9)) problems->Add(path + ".rotation_axis", "must not be zero");
    range.axis = axis.normalized();
  }
  if (message.has_linear_velocity_min_m_s() || message.has_linear_velocity_max_m_s()) {
    range.linear_velocity = BoundsFromProto(message.linear_velocity_min_m_s(), message.linear_velocity_max_m_s(),
                                            path + ".linear_velocity_min_m_s", problems);
  }
  if (message.has_angular_velocity_min_rad_s() || message.has_angular_velocity_max_rad_s()) {
    range.angular_velocity = BoundsFromProto(message.angular_velocity_min_rad_s(), message.angular_velocity_max_rad_s(),
                                             path + ".angular_velocity_min_rad_s", problems);
  }
  return range;
}

}  // namespace

absl::StatusOr<std::optional<StartOrder>> StartOrderFromProto(const Model& model, const v1::ResetRequest& request) {
  if (request.placements().empty() && request.materials().empty() && !request.has_randomize()) return std::optional<StartOrder>();
  Problems problems;
  StartOrder order;
  std::set<int32_t> named;
  CheckFiniteAndKnown(request, "", &problems);
  for (int i = 0; i < request.placements_size() && problems.count() < 20; ++i) {
    order.placements.push_back(
        PlacementFromProto(model, request.placements(i), absl::StrCat("placements[", i, "]"), &named, &problems));
  }
  const v1::Randomize& randomize = request.randomize();
  for (int i = 0; i < randomize.ranges_size() && problems.count() < 20; ++i) {
    order.ranges.push_back(
        RangeFromProto(model, randomize.ranges(i), absl::StrCat("randomize.ranges[", i, "]"), &named, &problems));
  }
  StartMaterialsFromProto(model, request, &order, &problems);
  order.seed = randomize.seed();
  order.attempts = randomize.attempts() == 0 ? kDefaultAttempts : randomize.attempts();
  if (order.attempts < 1 || order.attempts > kMaxAttempts) {
    problems.Add("randomize.attempts", "must be in [0, ", kMaxAttempts, "] (0: ", kDefaultAttempts, ")");
  }
  if (problems.count() > 0) return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", problems.ToStatus().message()));
  return std::optional<StartOrder>(std::move(order));
}

}  // namespace eipc
