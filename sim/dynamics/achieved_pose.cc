#include "sim/dynamics/achieved_pose.h"

#include <Eigen/SVD>

namespace eipc {

Pose AchievedPose(const Model& model, const State& state, int boundary_set) {
  const BoundarySet& set = model.boundary_sets[boundary_set];
  const Pose& commanded = state.drives[boundary_set].commanded;
  if (set.nodes.empty()) return commanded;
  const double count = static_cast<double>(set.nodes.size());
  Vec3 mean_local = Vec3::Zero();
  Vec3 mean_world = Vec3::Zero();
  for (size_t i = 0; i < set.nodes.size(); ++i) {
    mean_local += set.local_positions[i] / count;
    mean_world += state.q.segment<3>(3 * set.nodes[i]) / count;
  }
  // Moments against the commanded orientation: the rotation found is what is left to it, the identity where nothing is determined.
  Mat3 moments = Mat3::Zero();
  for (size_t i = 0; i < set.nodes.size(); ++i) {
    const Vec3 local = commanded.rotation * (set.local_positions[i] - mean_local);
    moments += (state.q.segment<3>(3 * set.nodes[i]) - mean_world) * local.transpose();
  }
  constexpr double kUndetermined = 1e-12;
  moments += (kUndetermined * moments.norm() + 1e-300) * Mat3::Identity();
  const Eigen::JacobiSVD<Mat3> svd(moments, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Mat3 u = svd.matrixU();
  if ((u * svd.matrixV().transpose()).determinant() < 0) u.col(2) *= -1;
  const Quat rotation = (Quat(Mat3(u * svd.matrixV().transpose())) * commanded.rotation).normalized();
  return {mean_world - rotation * mean_local, rotation};
}

}  // namespace eipc
