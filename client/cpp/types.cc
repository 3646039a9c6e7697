#include "client/cpp/types.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace eipc::client {
namespace {

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Vector3 Sum(const Vector3& a, const Vector3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

Vector3 Cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

const BodyState* Observation::Find(const std::string& body) const {
  for (const BodyState& state : bodies) {
    if (state.name == body) return &state;
  }
  return nullptr;
}

Vector3 Observation::ContactForceOn(const std::string& body) const { return ContactForceOnHand({body}); }

Vector3 Observation::ContactForceOnHand(const std::vector<std::string>& on) const {
  Vector3 sum = {0, 0, 0};
  for (const ContactWrench& wrench : contact_wrenches) {
    if (!Holds(on, wrench.body) || Holds(on, wrench.other)) continue;
    sum = Sum(sum, Sum(wrench.normal_force_n, wrench.friction_force_n));
  }
  return sum;
}

absl::StatusOr<Vector3> Observation::ContactMomentOnHand(const std::vector<std::string>& on, const Vector3& about_m) const {
  for (const std::string& name : on) {
    if (Find(name) == nullptr) return absl::NotFoundError(absl::StrCat("no body \"", name, "\" in this observation"));
  }
  Vector3 sum = {0, 0, 0};
  for (const ContactWrench& wrench : contact_wrenches) {
    if (!Holds(on, wrench.body) || Holds(on, wrench.other)) continue;
    const Vector3& centre = Find(wrench.body)->pose.position_m;
    const Vector3 arm = {centre[0] - about_m[0], centre[1] - about_m[1], centre[2] - about_m[2]};
    sum = Sum(sum, Sum(wrench.normal_moment_nm, wrench.friction_moment_nm));
    sum = Sum(sum, Cross(arm, Sum(wrench.normal_force_n, wrench.friction_force_n)));
  }
  return sum;
}

const PairSlip* Observation::FindSlip(const std::string& body, const std::string& other) const {
  for (const PairSlip& slip : slips) {
    if (slip.body == body && slip.other == other) return &slip;
  }
  return nullptr;
}

}  // namespace eipc::client
