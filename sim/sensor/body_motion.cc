#include "sim/sensor/body_motion.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace eipc {
namespace {

bool HasMass(const Body& body) { return body.mass.mass > 0; }

// The set that moves all nodes of a kinematic body, or null.
const BoundarySet* KinematicDrive(const Model& model, int body) {
  for (const BoundarySet& set : model.boundary_sets) {
    if (set.body == body && set.name.empty()) return &set;
  }
  return nullptr;
}

// Best rotation (and centroids) that maps rest nodes to present ones, weighted by `mass` or equally.
Pose FitPose(const Model& model, const State& state, const Body& body) {
  const bool weighted = HasMass(body);
  Vec3 rest_centre = Vec3::Zero(), centre = Vec3::Zero();
  double total = 0;
  // Rows of the consistent mass matrix weigh each node; S = sum_ij M_ij q_i X_j^T about the centres.
  for (int32_t i = body.nodes.begin; i < body.nodes.end; ++i) {
    double weight = 1;
    if (weighted) {
      weight = 0;
      for (int32_t k = model.mass.row_start[i]; k < model.mass.row_start[i + 1]; ++k) weight += model.mass.values[k];
    }
    total += weight;
    rest_centre += weight * model.initial_positions[i];
    centre += weight * state.q.segment<3>(3 * i);
  }
  rest_centre /= total;
  centre /= total;
  Mat3 s = Mat3::Zero();
  for (int32_t i = body.nodes.begin; i < body.nodes.end; ++i) {
    const Vec3 q = state.q.segment<3>(3 * i) - centre;
    if (weighted) {
      for (int32_t k = model.mass.row_start[i]; k < model.mass.row_start[i + 1]; ++k) {
        s += model.mass.values[k] * q * (model.initial_positions[model.mass.columns[k]] - rest_centre).transpose();
      }
    } else {
      s += q * (model.initial_positions[i] - rest_centre).transpose();
    }
  }
  const Eigen::JacobiSVD<Mat3> svd(s, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Mat3 flip = Mat3::Identity();
  flip(2, 2) = (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0 ? -1 : 1;
  const Mat3 rotation = svd.matrixU() * flip * svd.matrixV().transpose();
  // The displacement of the rest placement, applied to the body frame there.
  return {centre + rotation * (body.initial_pose.position - rest_centre), Quat(rotation) * body.initial_pose.rotation};
}

// The smallest angular velocity of that momentum: a sheet that lies along a line has no inertia about it.
Vec3 LeastTurn(const Mat3& inertia, const Vec3& momentum) {
  constexpr double kNone = 1e-12;
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(inertia);
  Vec3 out = Vec3::Zero();
  for (int i = 0; i < 3; ++i) {
    const double moment = eigen.eigenvalues()[i];
    const Vec3 axis = eigen.eigenvectors().col(i);
    if (moment > kNone * eigen.eigenvalues()[2]) out += axis.dot(momentum) / moment * axis;
  }
  return out;
}

Pose Canonical(Pose pose) {
  pose.rotation.normalize();
  if (pose.rotation.w() < 0) pose.rotation.coeffs() = -pose.rotation.coeffs();
  return pose;
}

}  // namespace

Pose BodyPose(const Model& model, const State& state, int index) {
  const Body& body = model.bodies[index];
  if (body.nodes.size() == 0) return Canonical(body.initial_pose);
  return Canonical(FitPose(model, state, body));
}

const Pose& BodyPoses::operator[](int body) {
  if (!poses_[body]) poses_[body] = BodyPose(model_, state_, body);
  return *poses_[body];
}

Twist BodyTwist(const Model& model, const State& state, int index) {
  return BodyTwist(model, state, index, BodyPose(model, state, index));
}

Twist BodyTwist(const Model& model, const State& state, int index, const Pose& pose) {
  const Body& body = model.bodies[index];
  Twist twist;
  if (body.nodes.size() == 0) return twist;
  // Kinematic bodies have no mass: every node counts alike (their motion is rigid).
  const bool weighted = HasMass(body) && KinematicDrive(model, index) == nullptr;
  // Calls visit(mass, node) for each entry of a row of the consistent mass matrix.
  const auto for_each_mass = [&](int32_t i, const auto& visit) {
    if (!weighted) return visit(1.0, i);
    for (int32_t k = model.mass.row_start[i]; k < model.mass.row_start[i + 1]; ++k)
      visit(model.mass.values[k], model.mass.columns[k]);
  };
  double total = 0;
  Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero();
  for (int32_t i = body.nodes.begin; i < body.nodes.end; ++i) {
    for_each_mass(i, [&](double mass, int32_t j) {
      total += mass;
      centre += mass * state.q.segment<3>(3 * j);
      velocity += mass * state.v.segment<3>(3 * j);
    });
  }
  centre /= total;
  velocity /= total;
  Vec3 momentum = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();
  for (int32_t i = body.nodes.begin; i < body.nodes.end; ++i) {
    Vec3 moment = Vec3::Zero(), impulse = Vec3::Zero();
    for_each_mass(i, [&](double mass, int32_t j) {
      moment += mass * (state.q.segment<3>(3 * j) - centre);
      impulse += mass * state.v.segment<3>(3 * j);
    });
    const Vec3 arm = state.q.segment<3>(3 * i) - centre;
    momentum += arm.cross(impulse);
    inertia += arm.dot(moment) * Mat3::Identity() - moment * arm.transpose();
  }
  const Mat3 symmetric = 0.5 * (inertia + inertia.transpose());
  twist.angular = body.traits.thin ? LeastTurn(symmetric, momentum) : Vec3(symmetric.ldlt().solve(momentum));
  // The centre of mass is the weighted centre; a kinematic body's frame may lie elsewhere.
  twist.linear = velocity + twist.angular.cross(pose.position - centre);
  return twist;
}

}  // namespace eipc
