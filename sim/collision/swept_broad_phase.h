#ifndef EIPC_SIM_COLLISION_SWEPT_BROAD_PHASE_H_
#define EIPC_SIM_COLLISION_SWEPT_BROAD_PHASE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/collision/broad_phase.h"
#include "sim/collision/deformation_bounds.h"
#include "sim/collision/interrupt_poll.h"
#include "sim/collision/swept_boxes.h"

namespace eipc {

// Pairs that come within `distance` somewhere on a straight motion of the nodes, for motions so long that BroadPhase's regions,
// which do not depend on time, would hold half the scene (SweptBox).
class SweptBroadPhase {
 public:
  // `interrupt`, which ends Find early, may be null.
  SweptBroadPhase(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
                  const std::vector<Vec3>* offsets, double dhat, Interrupt* interrupt = nullptr);

  // Takes some of the candidates; of a long motion there may be more than memory has room for.
  using Sink = std::function<void(const std::vector<Candidate>& part)>;
  // `searched`, where given: by its last CoversPath, pairs of bodies that are inside their regions are left out. `sink`, where
  // given, takes all candidates in parts of bounded size, and candidates() has none of them.
  void Find(const VecX& from, const VecX& to, double distance, const BroadPhase* searched = nullptr, const Sink& sink = nullptr);
  // No bounds: all are to be examined.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // Of the vertices that candidates have, at both ends, m.
  const std::vector<Vec3>& from() const { return boxes_.from(); }
  const std::vector<Vec3>& to() const { return boxes_.to(); }

 private:
  void Traverse(int32_t body_a, int32_t body_b);
  void AddTrianglePair(int32_t a, int32_t b, bool self);
  void GivePart();

  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  double dhat_;
  DeformationBounds shapes_;
  InterruptPoll poll_;
  SweptBoxes boxes_;
  std::vector<SweptBox> body_boxes_;
  std::vector<std::pair<double, int32_t>> by_x_;  // low end of all that a body comes to, and the body
  std::vector<std::pair<int32_t, int32_t>> stack_;
  std::vector<Candidate> candidates_;
  const Sink* sink_ = nullptr;  // during Find
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_SWEPT_BROAD_PHASE_H_
