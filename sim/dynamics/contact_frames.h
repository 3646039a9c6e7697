#ifndef EIPC_SIM_DYNAMICS_CONTACT_FRAMES_H_
#define EIPC_SIM_DYNAMICS_CONTACT_FRAMES_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/types.h"
#include "sim/contact/contact_set.h"
#include "sim/dynamics/model.h"
#include "sim/energy/surface_map.h"
#include "sim/linalg/block_matrix.h"
#include "sim/linalg/spd_solver.h"

namespace eipc {

// For each body that touches something, the velocity beside which contact can take or give energy. Forces along normals change
// nothing of how bodies fly together or slide along each other; what they can take is the energy of how bodies approach each other.
// With V_b the mean velocity of what is free of body b and m_b its mass, the frames c_b are the velocities after a plastic
// collision of rigid bodies that do not turn, the nearest ones that approach nobody:
//     sum m_b |c_b - V_b|^2 / 2 + K / 2 sum over pairs (c_a - c_b) . N_ab (c_a - c_b)  ->  min,   K = 20 max m_b.
// N_ab is sum f n n^T over the contacts of a pair, n normals and f forces, with eigenvalues that are less than a twentieth of the
// largest taken for zero and the largest for one: normals that scatter by less than some ten degrees do not resist a slide. c_b of
// what is prescribed is given: where several such surfaces touch one body, that velocity whose part along each normal is that of
// the surface there, in the mean. Bodies that a joint holds together are such a pair as well, with N_ab = 1: what meets one of them
// meets the other through it.
class ContactFrames {
 public:
  // Both outlive this.
  ContactFrames(const Model* model, const SurfaceMap* map);

  // By node, non-zero: its motion is prescribed. Outlives this; without it no node's is.
  void SetFixed(const std::vector<uint8_t>* fixed) { fixed_ = fixed; }
  bool IsFixed(int32_t node) const { return fixed_ != nullptr && (*fixed_)[node]; }
  // Whether forces move this side of a stencil with these weights (1 or -1, their sign): a twentieth of it or more is free.
  bool IsFree(const SurfaceMap::Stencil& v, const std::array<double, 4>& w, int side) const;
  bool IsFree(const ContactStencil& stencil, int side) const { return IsFree(stencil.v, stencil.closest.w, side); }

  void Clear() { contacts_.clear(); }
  // A contact of any point, with the size of its force, N, or anything proportional to that.
  void Add(const ContactStencil& stencil, double force);
  // A touch that resists nothing along a normal, as friction alone.
  void AddTouch(const SurfaceMap::Stencil& v, const std::array<double, 4>& w, int32_t body_a, int32_t body_b);
  // Of the contacts added, where nodes have these velocities, prescribed ones those of their motion.
  void Find(const VecX& v);
  // Whether there are contacts, or touches, on what is free of the body, or of one that is held to it.
  bool Touches(int32_t body) const { return motions_[body].touches; }
  // Of a body that touches.
  const Vec3& Velocity(int32_t body) const { return motions_[body].frame; }
  // The mass of what is free of the body, kg.
  double FreeMass(int32_t body) const { return motions_[body].mass; }
  // Calls visit(body, speed) for each free side of a contact whose other side is prescribed and of another body: that side's speed
  // along the normal beside the body's frame.
  template <typename Visit>
  void ForEachDriven(Visit visit) const {
    for (const Contact& c : contacts_) {
      for (const int side : {0, 1}) {
        if (!c.free[side] || c.free[1 - side] || c.body[0] == c.body[1]) continue;
        visit(c.body[side], std::abs(c.normal.dot(c.velocity - motions_[c.body[side]].frame)));
      }
    }
  }
  // Calls visit(a, b) for bodies that a joint without a drive holds together, where something of both is free.
  template <typename Visit>
  void ForEachHeld(Visit visit) const {
    for (const Joint& joint : model_->joints) {
      if (joint.body_b < 0 || joint.drive || joint.kind == JointKind::kSpring) continue;
      if (HasFree(joint.body_a) && HasFree(joint.body_b)) visit(joint.body_a, joint.body_b);
    }
  }
  // Calls visit(a, b) for contacts of which both sides are free.
  template <typename Visit>
  void ForEachFreePair(Visit visit) const {
    for (const Contact& c : contacts_) {
      if (c.free[0] && c.free[1]) visit(c.body[0], c.body[1]);
    }
  }

 private:
  struct Contact {
    SurfaceMap::Stencil v;
    std::array<double, 4> w;
    std::array<int32_t, 2> body;  // of the vertices with positive weights, and with negative ones
    std::array<bool, 2> free;
    Vec3 normal, velocity;  // velocity: of the closest point of a prescribed side
    double force;
  };
  struct Motion {
    bool touches = false;
    double mass = 0;
    Vec3 momentum = Vec3::Zero(), velocity = Vec3::Zero(), frame = Vec3::Zero();
  };
  // Two free bodies, or one and what is prescribed (b = -1).
  struct Pair {
    int32_t a, b;
    Mat3 normals = Mat3::Zero();
    Vec3 pushed = Vec3::Zero();  // sum f n n . v of what is prescribed
    // Replaces the normals by N_ab, and gives the velocity of what is prescribed.
    Vec3 FindNormals();
  };
  bool HasFree(int32_t body) const;
  void FindSides(const VecX& v);
  void FindHeld();
  void FindMotions(const VecX& v);
  void FindPairs();
  void Solve();

  const Model* model_;
  const SurfaceMap* map_;
  const std::vector<uint8_t>* fixed_ = nullptr;
  std::vector<Contact> contacts_;
  std::vector<Motion> motions_;  // by body
  std::vector<Pair> pairs_;
  std::vector<std::pair<int64_t, int32_t>> order_;  // of contacts, by pair
  std::vector<std::pair<int32_t, int32_t>> pattern_;
  BlockMatrix matrix_;
  SpdSolver solver_;
  std::vector<uint8_t> none_fixed_;
  VecX ones_, change_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_CONTACT_FRAMES_H_
