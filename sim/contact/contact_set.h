#ifndef EIPC_SIM_CONTACT_CONTACT_SET_H_
#define EIPC_SIM_CONTACT_CONTACT_SET_H_

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/collision/broad_phase.h"
#include "sim/collision/collision_surface.h"
#include "sim/contact/contact_settings.h"
#include "sim/contact/contact_stencil.h"
#include "sim/contact/contact_weights.h"
#include "sim/contact/nearest_features.h"

namespace eipc {

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
  double min_distance() const { return nearest_.distance; }
  // The same of their gaps.
  double min_gap() const { return nearest_.gap; }

 private:
  // The smallest of some pairs.
  struct Nearest {
    double distance = std::numeric_limits<double>::infinity();
    double gap = std::numeric_limits<double>::infinity();
    void Include(const Nearest& other) {
      distance = std::min(distance, other.distance);
      gap = std::min(gap, other.gap);
    }
  };
  // What a thread makes of a part of the candidates, and what it keeps of a part of all_stencils_.
  struct Chunk {
    std::vector<ContactStencil> found, prescribed;
    Nearest nearest;
    NearestFeatures features;
    std::vector<ContactStencil> hits, kept;
    size_t place = 0;  // in the list that parts are joined to
  };
  void Join(int64_t chunks, std::vector<ContactStencil> Chunk::*list, ThreadPool* pool, std::vector<ContactStencil>* out);
  bool MakeStencil(const Candidate& candidate, const std::vector<Vec3>& x, ContactStencil* out, Nearest* nearest) const;
  double PairWeight(const Candidate& candidate) const;
  bool Counts(const ContactStencil& s) const;
  void KeepNearestFeatures(const std::vector<Vec3>& x, ThreadPool* pool);
  void KeepOf(size_t i, const std::vector<Vec3>& x, Chunk* out) const;

  const CollisionSurface* surface_;
  const ContactWeights* weights_;
  ContactSettings settings_;
  std::vector<ContactStencil> stencils_;
  std::vector<ContactStencil> prescribed_pairs_;
  std::vector<ContactStencil> all_stencils_;      // before KeepNearestFeatures
  std::vector<std::array<int32_t, 3>> by_point_;  // point, body met, index in all_stencils_; sorted
  std::vector<Chunk> chunks_;
  Nearest nearest_ = {0, 0};
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_CONTACT_SET_H_
