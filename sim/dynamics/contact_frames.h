#ifndef EIPC_SIM_DYNAMICS_CONTACT_FRAMES_H_
#define EIPC_SIM_DYNAMICS_CONTACT_FRAMES_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/contact/contact_set.h"
#include "sim/dynamics/model.h"
#include "sim/energy/surface_map.h"

namespace eipc {

// For each body that touches something, the velocity beside which contact can take or give energy. Forces along normals change
// nothing of how bodies fly together or slide along each other. With V_b the mean velocity of what is free of body b, m_b its mass,
// and contacts with normals n and forces f, the frame of b moves with V_b + u,
//     (A + tr(A) / 20) u = sum f n n . (V_o - V_b) m_o / (m_b + m_o),   A = sum f n n^T,
// V_o that of the other body, or the velocity of the closest point, and m_o infinite, where that is prescribed: along the normals
// two free bodies have the frame of their common mass centre, and what touches a driven surface has the surface's. The second term
// on the left leaves out normals that only scatter: sliding on what is flat to some ten degrees counts for little.
class ContactFrames {
 public:
  // Both outlive this.
  ContactFrames(const Model* model, const SurfaceMap* map);

  // By node, non-zero: its motion is prescribed. Outlives this; without it no node's is.
  void SetFixed(const std::vector<uint8_t>* fixed) { fixed_ = fixed; }
  bool IsFixed(int32_t node) const { return fixed_ != nullptr && (*fixed_)[node]; }
  // Whether forces move this side of a stencil (1 or -1, the sign of its vertices' weights): a twentieth of it or more is free.
  bool IsFree(const ContactStencil& stencil, int side) const { return IsFree(stencil.v, stencil.closest.w, side); }

  void Clear() { contacts_.clear(); }
  // A contact of any point, with the size of its force, N, or anything proportional to that.
  void Add(const ContactStencil& stencil, double force);
  // Of the contacts added, where nodes have these velocities, prescribed ones those of their motion.
  void Find(const VecX& v);
  // Of a body with contacts on what is free of it.
  const Vec3& Velocity(int32_t body) const { return motions_[body].frame; }
  // The mass of what is free of the body, kg.
  double FreeMass(int32_t body) const { return motions_[body].mass; }
  // Calls visit(body, speed) for each free side of a contact whose other side is prescribed: that side's, along the normal, beside
  // the body's frame.
  template <typename Visit>
  void ForEachDriven(Visit visit) const {
    for (const Contact& c : contacts_) {
      for (const int side : {0, 1}) {
        const int32_t body = c.body[side];
        if (c.free[side] && !c.free[1 - side]) visit(body, std::abs(c.normal.dot(c.velocity - motions_[body].frame)));
      }
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
    Mat3 normals = Mat3::Zero();
    Vec3 approach = Vec3::Zero();
    void FindFrame();
  };
  bool IsFree(const SurfaceMap::Stencil& v, const std::array<double, 4>& w, int side) const;
  void FindMotions(const VecX& v);
  void AddApproach(const Contact& contact, int side);  // 0 or 1

  const Model* model_;
  const SurfaceMap* map_;
  const std::vector<uint8_t>* fixed_ = nullptr;
  std::vector<Contact> contacts_;
  std::vector<Motion> motions_;  // by body
  VecX ones_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_CONTACT_FRAMES_H_
