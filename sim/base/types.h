#ifndef EIPC_SIM_BASE_TYPES_H_
#define EIPC_SIM_BASE_TYPES_H_

// Names of the small linear-algebra types used everywhere. SI units, right-handed world frame, z up.

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <array>
#include <cstdint>

namespace eipc {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec9 = Eigen::Matrix<double, 9, 1>;
using Vec12 = Eigen::Matrix<double, 12, 1>;
using VecX = Eigen::VectorXd;
using Mat3 = Eigen::Matrix3d;
using Mat9 = Eigen::Matrix<double, 9, 9>;
using Mat12 = Eigen::Matrix<double, 12, 12>;
using Quat = Eigen::Quaterniond;

using Edge = std::array<int32_t, 2>;
using Triangle = std::array<int32_t, 3>;
using Tet = std::array<int32_t, 4>;

// Rigid pose of a frame in the world: p_world = rotation * p_frame + position.
struct Pose {
  Vec3 position = Vec3::Zero();
  Quat rotation = Quat::Identity();

  Vec3 Apply(const Vec3& p) const { return rotation * p + position; }
  Pose Inverse() const {
    const Quat inverse = rotation.conjugate();
    return {-(inverse * position), inverse};
  }
  friend Pose operator*(const Pose& a, const Pose& b) { return {a.Apply(b.position), (a.rotation * b.rotation).normalized()}; }
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_TYPES_H_
