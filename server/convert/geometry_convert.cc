#include "server/convert/geometry_convert.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "eipc/v1/geometry.pb.h"
#include "sim/scene/problems.h"

namespace eipc {

Vec3 Vec3FromProto(const v1::Vec3& v) { return Vec3(v.x(), v.y(), v.z()); }

void Vec3ToProto(const Vec3& v, v1::Vec3* out) {
  out->set_x(v.x());
  out->set_y(v.y());
  out->set_z(v.z());
}

Quat QuaternionFromProto(const v1::Quaternion& q, const std::string& path, Problems* problems) {
  const Quat result(q.w(), q.x(), q.y(), q.z());
  if (result.coeffs().isZero(0)) return Quat::Identity();
  // Not finite: the check of numbers has reported it.
  if (!result.coeffs().allFinite()) return Quat::Identity();
  constexpr double kUnitTolerance = 1e-3;
  const double norm = result.norm();
  if (std::abs(norm - 1) > kUnitTolerance) {
    problems->Add(path, "must be a unit quaternion (or all zero for the identity), got norm ", norm);
    return Quat::Identity();
  }
  return result.normalized();
}

Pose PoseFromProto(const v1::Pose& pose, const std::string& path, Problems* problems) {
  Pose result;
  result.position = Vec3FromProto(pose.position_m());
  if (pose.has_quaternion()) {
    result.rotation = QuaternionFromProto(pose.quaternion(), absl::StrCat(path, ".quaternion"), problems);
  } else if (pose.has_rpy_rad()) {
    const Vec3 rpy = Vec3FromProto(pose.rpy_rad());
    if (rpy.allFinite()) {
      result.rotation = Eigen::AngleAxisd(rpy.z(), Vec3::UnitZ()) * Eigen::AngleAxisd(rpy.y(), Vec3::UnitY()) *
                        Eigen::AngleAxisd(rpy.x(), Vec3::UnitX());
      result.rotation.normalize();
    }
  }
  return result;
}

void PoseToProto(const Pose& pose, v1::Pose* out) {
  Vec3ToProto(pose.position, out->mutable_position_m());
  const double sign = pose.rotation.w() < 0 ? -1 : 1;
  v1::Quaternion& q = *out->mutable_quaternion();
  q.set_w(sign * pose.rotation.w());
  q.set_x(sign * pose.rotation.x());
  q.set_y(sign * pose.rotation.y());
  q.set_z(sign * pose.rotation.z());
}

}  // namespace eipc
