#ifndef EIPC_SIM_DYNAMICS_COLLISION_GUARD_H_
#define EIPC_SIM_DYNAMICS_COLLISION_GUARD_H_

#include <mutex>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/collision/obstacle.h"
#include "sim/collision/swept_broad_phase.h"
#include "sim/dynamics/make_terms.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/surface_state.h"
#include "sim/solver/step_limit.h"

namespace eipc {

// Bounds a move from the current point of a stage: it must neither invert elements of materials that forbid inversion nor bring
// surfaces too near each other (docs/concepts/theory.md, section 11).
class CollisionGuard {
 public:
  // `surface` and `terms` outlive this. `interrupt` may be null.
  CollisionGuard(const Model* model, SurfaceState* surface, const ModelTerms* terms, ThreadPool* pool, Interrupt* interrupt);

  // A step that is expected to move no surface vertex further than `distance`, m.
  void BeginStep(double distance);
  // Largest fraction of a straight motion dq from the current point that is free. `least_gap`: of the pairs that are closer than
  // their own dhat there (ContactSet::min_gap), m; 0: not known.
  double MaxStep(const VecX& dq, double least_gap = 0);
  // What made the last MaxStep less than 1.
  StepLimit limited_by() const { return limited_by_; }
  // The pair of primitives that limited it, or none when it was something else.
  Obstacle FindObstacle() const;

 private:
  double LimitOfTerms(const VecX& dq);
  double PositionRounding() const;
  // Largest part of the motion to trial_q_ that collision detection finds free: by the candidates of the broad phase where its
  // regions cover the motion, else by those of the swept search along this motion. Both give the same part, and so does StaysFree
  // where it finds the motion too short for any to limit it.
  double FreePart(double least_gap);
  double DistanceError() const;
  bool StaysFree(double least_gap) const;
  double FreeInRegions();
  double FreeOnPath();
  // Several threads may call it at a time.
  void ExaminePart(const std::vector<Candidate>& part, ThreadPool* pool);

  // What the swept search along one motion found.
  struct Path {
    double rounding = 0;              // of positions, m
    double free = 1;                  // part of the motion
    std::vector<Candidate> limiting;  // parts of the candidates with those that limit it
    std::mutex mutex;                 // of `free` and `limiting`
  };
  const Model* model_;
  SurfaceState* surface_;
  const ModelTerms* terms_;
  ThreadPool* pool_;
  Interrupt* interrupt_;
  SweptBroadPhase swept_broad_phase_;
  Path path_;
  StepLimit limited_by_ = StepLimit::kNothing;
  bool covered_ = true;  // all of the last examined motion was inside the regions of the broad phase
  double least_reach_ = 0;
  double search_radius_ = 0;  // largest displacement of a Newton direction that is examined, m
  double first_part_ = 0;     // and at once, m
  double fixed_extent_ = 0;   // largest coordinate of what never moves, m
  VecX trial_q_;
  std::vector<Vec3> trial_x_;
  DisplacementBounds travel_;  // the whole path to trial_x_
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_COLLISION_GUARD_H_
