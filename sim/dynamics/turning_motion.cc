#include "sim/dynamics/turning_motion.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

namespace eipc {
namespace {

// Below this angle a turn and a straight line differ by less than the rounding of coordinates.
constexpr double kStraight = 1e-8;

struct Turn {
  Vec3 centre, velocity, spin;
};

Turn FitTurn(const IndexRange& nodes, const VecX& q, const VecX& d) {
  Turn out = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  for (int32_t i = nodes.begin; i < nodes.end; ++i) {
    out.centre += q.segment<3>(3 * i);
    out.velocity += d.segment<3>(3 * i);
  }
  out.centre /= nodes.size();
  out.velocity /= nodes.size();
  Vec3 moment = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();
  for (int32_t i = nodes.begin; i < nodes.end; ++i) {
    const Vec3 r = Vec3(q.segment<3>(3 * i)) - out.centre;
    moment += r.cross(Vec3(d.segment<3>(3 * i)) - out.velocity);
    inertia += r.squaredNorm() * Mat3::Identity() - r * r.transpose();
  }
  const Vec3 spin = inertia.inverse() * moment;
  if (spin.allFinite()) out.spin = spin;  // nodes on one line have no moment about it
  return out;
}

}  // namespace

TurningMotion::TurningMotion(const Model& model) {
  std::vector<uint8_t> driven(model.bodies.size(), 0);
  for (const BoundarySet& set : model.boundary_sets) driven[set.body] = 1;
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    if (!driven[b] && model.bodies[b].nodes.size() > 0) free_bodies_.push_back(model.bodies[b].nodes);
  }
}

bool TurningMotion::Follow(const VecX& q, const VecX& d, double fraction, VecX* out) const {
  *out = q + fraction * d;
  bool turned = false;
  for (const IndexRange& nodes : free_bodies_) {
    const Turn turn = FitTurn(nodes, q, d);
    const double angle = fraction * turn.spin.norm();
    if (!(angle > kStraight)) continue;
    turned = true;
    const Mat3 rotation = Eigen::AngleAxisd(angle, turn.spin.normalized()).toRotationMatrix();
    for (int32_t i = nodes.begin; i < nodes.end; ++i) {
      const Vec3 r = Vec3(q.segment<3>(3 * i)) - turn.centre;
      const Vec3 rest = Vec3(d.segment<3>(3 * i)) - turn.velocity - turn.spin.cross(r);
      out->segment<3>(3 * i) = turn.centre + fraction * turn.velocity + rotation * (r + fraction * rest);
    }
  }
  return turned;
}

}  // namespace eipc
