#include "sim/sensor/body_motion.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "sim/base/quad.h"

namespace eipc {
namespace {

// What belongs to a node, and a number that is not used.
Quad OfNode(const VecX& values, int32_t node) {
  const double* p = values.data() + 3 * node;
  return 3 * node + 4 <= values.size() ? LoadQuad(p) : Quad{p[0], p[1], p[2], 0};
}

Vec3 FirstThree(const Quad& lanes) { return {lanes[0], lanes[1], lanes[2]}; }

// Sums over the nodes i and j of a body, with entries M_ij of the mass matrix (or a mass of 1 for each node, not weighted), of arms
// a about `origin`, a node's position, so that they lose nothing far from the world's.
struct MassSums {
  double mass = 0;
  Vec3 moment = Vec3::Zero();    // M_ij a_j
  Vec3 impulse = Vec3::Zero();   // M_ij v_j
  Vec3 momentum = Vec3::Zero();  // a_i x M_ij v_j
  Mat3 products = Mat3::Zero();  // M_ij a_j a_i^T
};

MassSums SumsOf(const Model& model, const State& state, const IndexRange& nodes, bool weighted) {
  MassSums sums;
  const Quad origin = OfNode(state.q, nodes.begin);
  for (int32_t i = nodes.begin; i < nodes.end; ++i) {
    const Quad arm = OfNode(state.q, i) - origin;
    Quad moment = arm, impulse = OfNode(state.v, i);
    double mass = 1;
    if (weighted) {
      moment = impulse = Quad{};
      mass = 0;
      for (int32_t k = model.mass.row_start[i]; k < model.mass.row_start[i + 1]; ++k) {
        const double entry = model.mass.values[k];
        mass += entry;
        moment += Splat(entry) * (OfNode(state.q, model.mass.columns[k]) - origin);
        impulse += Splat(entry) * OfNode(state.v, model.mass.columns[k]);
      }
    }
    sums.mass += mass;
    sums.moment += FirstThree(moment);
    sums.impulse += FirstThree(impulse);
    sums.momentum += FirstThree(arm).cross(FirstThree(impulse));
    sums.products += FirstThree(moment) * FirstThree(arm).transpose();
  }
  return sums;
}

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
  const MassSums sums = SumsOf(model, state, body.nodes, weighted);
  // From the first node to the centre.
  const Vec3 to_centre = sums.moment / sums.mass, velocity = sums.impulse / sums.mass;
  const Vec3 centre = state.q.segment<3>(3 * body.nodes.begin) + to_centre;
  const Vec3 momentum = sums.momentum - to_centre.cross(sums.impulse);
  const Mat3 products = sums.products - sums.mass * to_centre * to_centre.transpose();
  const Mat3 inertia = products.trace() * Mat3::Identity() - products;
  const Mat3 symmetric = 0.5 * (inertia + inertia.transpose());
  twist.angular = body.traits.thin ? LeastTurn(symmetric, momentum) : Vec3(symmetric.ldlt().solve(momentum));
  // The centre of mass is the weighted centre; a kinematic body's frame may lie elsewhere.
  twist.linear = velocity + twist.angular.cross(pose.position - centre);
  return twist;
}

}  // namespace eipc
