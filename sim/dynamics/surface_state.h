#ifndef EIPC_SIM_DYNAMICS_SURFACE_STATE_H_
#define EIPC_SIM_DYNAMICS_SURFACE_STATE_H_

#include <cstdint>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/base/types.h"
#include "sim/collision/broad_phase.h"
#include "sim/collision/vertex_list.h"
#include "sim/dynamics/model.h"
#include "sim/energy/surface_map.h"

namespace eipc {

// The surface at one point q of a stage: positions x = J q of the vertices that contact and friction may ask for, and bounds of
// how far everything is from where the broad phase has its anchors.
class SurfaceState {
 public:
  // `every_vertex`: positions of all vertices are wanted. `interrupt` may be null, and so may `pool`: one thread then.
  SurfaceState(const Model* model, bool every_vertex, Interrupt* interrupt, ThreadPool* pool = nullptr);

  // Bodies (by body, non-zero) that will not move: their contacts with each other and with fixed ones are not searched for.
  void SetAsleep(const std::vector<uint8_t>& asleep) { broad_phase_.SetAsleep(asleep); }
  // At the start of a step that is expected to lead to q_guess, at most `distance` m away: candidates for that motion.
  void BeginStep(const VecX& q_start, const VecX& q_guess, double distance);
  void SetPoint(const VecX& q);
  // Candidates for q, and for every short motion from there to `other`, with some room to spare.
  void CoverMotion(const VecX& q, const VecX& other);
  // These vertices are wanted as well, where the broad phase does not select them. The list outlives this.
  void KeepPlaced(const VertexList* vertices) { kept_placed_ = vertices; }

  // Positions at another point q of what is selected there, and how far they are from their anchors.
  void Evaluate(const VecX& q, const BroadPhase::Selection& selection, std::vector<Vec3>* x, DisplacementBounds* travel);
  // The same for a selection at the current point, which then is the one that positions() and travel() are of.
  void Select(const BroadPhase::Selection& selection);
  // Positions of these vertices at the current point, where they are not there yet.
  void Place(const std::vector<int32_t>& vertices);

  // No surface vertex moves further between two points, m; infinite where one of them is no point, or the square of it no number.
  double Displacement(const VecX& from, const VecX& to) const;

  const VecX& q() const { return q_; }
  // Of the vertices above; others are not kept up to date.
  const std::vector<Vec3>& x() const { return x_; }
  const DisplacementBounds& travel() const { return travel_; }
  // Whether x() and travel() are of this selection.
  bool Has(const BroadPhase::Selection& selection) const { return placed_.stamp == selection.stamp; }
  const SurfaceMap& map() const { return map_; }
  BroadPhase& broad_phase() { return broad_phase_; }
  const BroadPhase& broad_phase() const { return broad_phase_; }

 private:
  // Moves the anchors of the broad phase to a point. x_ and travel_ are then those of q_, from there.
  void MoveAnchors(const VecX& q);
  void EvaluateHere(const VecX& q);
  void Positions(const VecX& q, const std::vector<int32_t>& vertices, std::vector<Vec3>* x);
  // Of those that are not among `known`.
  void PositionsOfOthers(const VecX& q, const std::vector<int32_t>& vertices, const VertexList& known, std::vector<Vec3>* x);

  const Model* model_;
  const bool every_vertex_;
  ThreadPool* pool_;
  SurfaceMap map_;
  BroadPhase broad_phase_;
  VecX q_;
  std::vector<Vec3> x_;
  DisplacementBounds travel_;     // of x_ from the anchors of the broad phase
  BroadPhase::Selection placed_;  // whose x_ and travel_ are those of q_
  const VertexList* kept_placed_ = nullptr;
  std::vector<int32_t> others_;  // of PositionsOfOthers
  std::vector<int32_t> all_;     // every vertex, where they are wanted
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SURFACE_STATE_H_
