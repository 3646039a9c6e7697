#ifndef EIPC_SERVER_CONVERT_GEOMETRY_CONVERT_H_
#define EIPC_SERVER_CONVERT_GEOMETRY_CONVERT_H_

// Small geometric values, in both directions.

#include <string>

#include "sim/base/types.h"

namespace eipc::v1 {
class Pose;
class Quaternion;
class Vec3;
}  // namespace eipc::v1

namespace eipc {

class Problems;

Vec3 Vec3FromProto(const v1::Vec3& v);
void Vec3ToProto(const Vec3& v, v1::Vec3* out);

// Zero means identity; a norm within 1e-3 of one is normalized; anything else is a problem at `path`.
Quat QuaternionFromProto(const v1::Quaternion& q, const std::string& path, Problems* problems);

Pose PoseFromProto(const v1::Pose& pose, const std::string& path, Problems* problems);
// Writes the rotation with w >= 0.
void PoseToProto(const Pose& pose, v1::Pose* out);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_GEOMETRY_CONVERT_H_
