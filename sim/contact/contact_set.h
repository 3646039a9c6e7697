#ifndef EIPC_SIM_CONTACT_CONTACT_SET_H_
#define EIPC_SIM_CONTACT_CONTACT_SET_H_

#include <array>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/collision/broad_phase.h"
#include "sim/collision/collision_surface.h"
#include "sim/contact/contact_settings.h"
#include "sim/contact/contact_weights.h"
#include "sim/geometry/distance.h"

namespace eipc {

// An active pair: gap below its own dhat. Vertices as in ContactForce.
struct ContactStencil {
  std::array<int32_t, 4> v;
  ContactKind kind;
  int32_t body_a;
  int32_t body_b;
  double dhat;  // m; less than the scene's for neighbouring features of one body
  // 1 per pair; m^2 area weighted, and negative for what two walls of a crease have in common (nearest_features.h). Times the
  // barrier stiffness: N/m.
  double weight;
  double mollifier2;  // edge-edge: |ea x eb|^2 below which the barrier fades out, m^4; 0: never (point-triangle)
  double distance;    // m
  ClosestPoints closest;
  double offset = 0;  // m: what the thicknesses of sheets take from the distance
  // What the barrier sees, m.
  double gap() const { return distance - offset; }
};

// Active stencils of a state, in candidate order. Per pair: one a candidate within dhat. Area weighted: of the triangles that a
// point is near, the features that count (nearest_features.h), where the first of them was.
class ContactSet {
 public:
  // `weights`: of this surface; both outlive this.
  ContactSet(const CollisionSurface* surface, const ContactWeights* weights, const ContactSettings& settings)
      : surface_(surface), weights_(weights), settings_(settings) {}

  // `travel`, where given, bounds the distance of each vertex of x from its anchor (BroadPhase::Displacements): pairs that are
  // therefore beyond dhat are not examined, with the same result. `interrupt`, where given, ends it early.
  void Update(const std::vector<Candidate>& candidates, const std::vector<Vec3>& x, ThreadPool* pool,
              const DisplacementBounds* travel = nullptr, Interrupt* interrupt = nullptr);

  const std::vector<ContactStencil>& stencils() const { return stencils_; }
  // Active pairs of bodies that no force moves: they carry no potential, their weight is zero.
  const std::vector<ContactStencil>& prescribed_pairs() const { return prescribed_pairs_; }
  // The smallest distance of the pairs that are closer than their own dhat, zero weights included; infinity when there is none.
  double min_distance() const { return min_distance_; }

 private:
  bool MakeStencil(const Candidate& candidate, const std::vector<Vec3>& x, ContactStencil* out, double* distance) const;
  double PairWeight(const Candidate& candidate) const;
  void KeepNearestFeatures(const std::vector<Vec3>& x);

  const CollisionSurface* surface_;
  const ContactWeights* weights_;
  ContactSettings settings_;
  std::vector<ContactStencil> stencils_;
  std::vector<ContactStencil> prescribed_pairs_;
  std::vector<ContactStencil> all_stencils_;      // before KeepNearestFeatures
  std::vector<std::array<int32_t, 3>> by_point_;  // point, body met, index in all_stencils_; sorted
  std::vector<ContactStencil> hits_;
  std::vector<std::vector<ContactStencil>> chunk_stencils_;
  std::vector<double> chunk_min_;
  double min_distance_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_CONTACT_SET_H_
