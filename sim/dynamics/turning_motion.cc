#include "sim/dynamics/turning_motion.h"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>

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

// A body of a tree of joints: what it hangs on, -1: nothing or what does not turn.
struct Hanging {
  const LinearVector* pivot = nullptr;
  int32_t before = -1;
};

// Joints from `body` to bodies that are not in a tree yet: they are put into it, and returned.
std::vector<int32_t> HangOn(const Model& model, int32_t body, std::vector<uint8_t>* placed, std::vector<Hanging>* hanging) {
  std::vector<int32_t> added;
  for (const Joint& joint : model.joints) {
    if (!joint.pivot_a || (joint.body_a != body && joint.body_b != body)) continue;
    const int32_t other = joint.body_a == body ? joint.body_b : joint.body_a;
    if (other < 0 || (*placed)[other]) continue;
    (*placed)[other] = 1;
    (*hanging)[other] = {other == joint.body_a ? &*joint.pivot_a : &*joint.pivot_b, body};
    added.push_back(other);
  }
  return added;
}

// The bodies that hang on `roots`, in the order in which they follow each other.
std::vector<int32_t> Tree(const Model& model, const std::vector<int32_t>& roots, std::vector<uint8_t>* placed,
                          std::vector<Hanging>* hanging) {
  std::vector<int32_t> order = roots;
  for (size_t k = 0; k < order.size(); ++k) {
    const std::vector<int32_t> next = HangOn(model, order[k], placed, hanging);
    order.insert(order.end(), next.begin(), next.end());
  }
  order.erase(order.begin(), order.begin() + static_cast<int64_t>(roots.size()));
  return order;
}

}  // namespace

void TurningMotion::Carry(const Path& before, const Vec3& pivot, const Vec3& displacement, double fraction, Path* path) {
  const Vec3 arm = pivot - before.pivot;
  const Vec3 rest = displacement - before.velocity - before.spin.cross(arm);
  path->pivot = pivot;
  path->moved = before.moved + before.rotation * (arm + fraction * rest);
  path->velocity = displacement;
  path->turned = path->turned || before.turned;
}

TurningMotion::TurningMotion(const Model& model) {
  const auto count = static_cast<int32_t>(model.bodies.size());
  std::vector<uint8_t> driven(count, 0), placed(count, 0);
  for (const BoundarySet& set : model.boundary_sets) driven[set.body] = 1;
  for (const PoseDrive& drive : model.pose_drives) driven[model.boundary_sets[drive.boundary_set].body] = 0;
  std::vector<int32_t> fixed, place(count, -1);
  std::vector<Hanging> hanging(count);
  for (int32_t b = 0; b < count; ++b) {
    placed[b] = driven[b] || model.bodies[b].nodes.size() == 0;
    if (placed[b]) fixed.push_back(b);
  }
  std::vector<int32_t> order;
  for (const Joint& joint : model.joints) {  // with the world
    if (!joint.pivot_a || joint.body_b >= 0 || placed[joint.body_a]) continue;
    placed[joint.body_a] = 1;
    hanging[joint.body_a] = {&*joint.pivot_a, -1};
    order.push_back(joint.body_a);
  }
  std::vector<int32_t> held = fixed;
  held.insert(held.end(), order.begin(), order.end());
  std::vector<int32_t> hung = Tree(model, held, &placed, &hanging);
  order.insert(order.end(), hung.begin(), hung.end());
  std::vector<int32_t> free_bodies;
  for (int32_t b = 0; b < count; ++b) {
    if (placed[b]) continue;
    placed[b] = 1;
    free_bodies.push_back(b);
    hung = Tree(model, {b}, &placed, &hanging);
    order.insert(order.end(), hung.begin(), hung.end());
  }
  order.insert(order.begin(), free_bodies.begin(), free_bodies.end());
  for (const int32_t b : order) {
    place[b] = static_cast<int32_t>(bodies_.size());
    bodies_.push_back({model.bodies[b].nodes, hanging[b].pivot, hanging[b].before < 0 ? -1 : place[hanging[b].before]});
  }
}

bool TurningMotion::Follow(const VecX& q, const VecX& d, double fraction, VecX* out) const {
  *out = q + fraction * d;
  bool turned = false;
  paths_.assign(bodies_.size(), {});
  for (size_t b = 0; b < bodies_.size(); ++b) {
    const Turning& body = bodies_[b];
    const Turn turn = FitTurn(body.nodes, q, d);
    Path& path = paths_[b];
    path = {turn.centre, turn.centre + fraction * turn.velocity, turn.velocity, Vec3::Zero(), Mat3::Identity(), false};
    const double angle = fraction * turn.spin.norm();
    if (angle > kStraight) {  // else the whole displacement is straight, the spin's part of it too
      path.turned = true;
      path.spin = turn.spin;
      path.rotation = Eigen::AngleAxisd(angle, turn.spin.normalized()).toRotationMatrix();
    }
    if (body.pivot != nullptr) {
      Carry(body.before < 0 ? Path() : paths_[body.before], body.pivot->At(q), body.pivot->Change(d), fraction, &path);
    }
    if (!path.turned) continue;
    turned = true;
    for (int32_t i = body.nodes.begin; i < body.nodes.end; ++i) {
      const Vec3 r = Vec3(q.segment<3>(3 * i)) - path.pivot;
      const Vec3 rest = Vec3(d.segment<3>(3 * i)) - path.velocity - path.spin.cross(r);
      out->segment<3>(3 * i) = path.moved + path.rotation * (r + fraction * rest);
    }
  }
  return turned;
}

}  // namespace eipc
