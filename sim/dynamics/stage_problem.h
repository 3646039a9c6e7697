#ifndef EIPC_SIM_DYNAMICS_STAGE_PROBLEM_H_
#define EIPC_SIM_DYNAMICS_STAGE_PROBLEM_H_

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/contact/broad_phase.h"
#include "sim/contact/contact_set.h"
#include "sim/contact/obstacle.h"
#include "sim/contact/path_pairs.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/make_terms.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/turning_motion.h"
#include "sim/energy/barrier.h"
#include "sim/energy/friction.h"
#include "sim/energy/friction_remainder.h"
#include "sim/energy/surface_map.h"
#include "sim/energy/term.h"
#include "sim/solver/root_solver.h"
#include "sim/solver/stage_timer.h"

namespace eipc {

// A contact whose gap is small, with the gradient of its distance by vertex.
struct TightContact {
  double relative_gap;  // as a part of its dhat
  std::array<int32_t, 4> v;
  std::array<Vec3, 4> gradient;
};

// One stage of one step as a minimization, or as a root where friction is implicit: the sum of a scene's terms over node positions,
// with contact kept up to date. What is kept from one step to the next cannot change a bit: candidates are a superset in a fixed
// order, the matrix pattern is a function of the scene and of the pairs that BeginStep is given.
class StageProblem : public RootProblem {
 public:
  using NodePairs = std::vector<std::pair<int32_t, int32_t>>;

  // `interrupt`, which ends searches for contact and collisions early, may be null.
  StageProblem(const Model* model, ThreadPool* pool, StageSeconds* seconds, Interrupt* interrupt = nullptr);

  // Before BeginStep: bodies (non-zero; empty: none) whose nodes will stay as they are in every step until told otherwise. Contacts
  // of such bodies with each other and with fixed ones are not looked for.
  void SetAsleep(const std::vector<uint8_t>& asleep);
  // `q_start`: state at the start of the step; `q_guess`: where it is expected to go (regions of the broad phase).
  // `contact_pairs`: State::contact_pairs of the start.
  void BeginStep(const VecX& q_start, const VecX& q_guess, double barrier_stiffness, const NodePairs& contact_pairs);
  // The references must outlive the stage. See StageContext.
  void BeginStage(const VecX& q_start, const VecX& q_tilde, const VecX& v_tilde, double gamma_h);
  // Contact and friction count `share` times from the next LagFriction and evaluation on (1 after BeginStep).
  void SetContactShare(double share);
  // Friction forces and frames from the current point's contacts.
  void LagFriction();

  // State::contact_pairs for the next step: those of the current point's contacts alone (`present_only`), or all met so far.
  void ContactPairs(bool present_only, NodePairs* out) const;

  void SetPoint(const VecX& q) override;
  // Infinite where Intersects().
  double Energy() override;
  void Gradient(VecX* gradient) override;
  bool Hessian(BlockMatrix* hessian) override;
  // Row sums of |M| / (gamma h)^2.
  const std::vector<double>& NodeInertia() override;
  void ChangingNodes(std::vector<uint8_t>* nodes) const override;
  void Dyads(LowRank* dyads) override;
  bool Project() override;
  double MaxStep(const VecX& dq) override;
  // Friction at the end of the stage: the potential frozen at a point is the one with friction lagged there.
  void Freeze() override { LagFriction(); }
  void PrepareRemainder() override;
  void AddRemainderTimes(const VecX& dq, VecX* product) override { friction_remainder_.AddTimes(dq, product); }
  void RemainderBlocks(std::vector<NodeBlock>* blocks) const override { friction_remainder_.Blocks(blocks); }
  // Moves on a straight line from the current point to `q`; false, and somewhere on the way, when something is there.
  bool GoStraight(const VecX& q);
  bool Follow(const VecX& q, const VecX& dq, double fraction, VecX* out) const override {
    return turning_.Follow(q, dq, fraction, out);
  }
  // True when this is an impact that a stiffer barrier helps with, which Stiffen() then makes it.
  bool NeedsStifferBarrier() override;
  void Stiffen();
  // What limited the last MaxStep: a pair of primitives, or none when it was something else.
  Obstacle FindObstacle() const;
  // The gradients of the distances of the current point's contacts whose distance is below `relative_gap` of their dhat.
  void TightContacts(double relative_gap, std::vector<TightContact>* out) const;
  StepLimit MaxStepLimit() const override { return max_step_limit_; }
  bool InFriction(int32_t node) const override;

  const SurfaceMap& map() const { return map_; }
  // Of the current point: of the vertices that contact and friction have to do with, others are not kept up to date.
  const std::vector<Vec3>& x() const { return x_; }
  const ContactSet& contacts() const { return contacts_; }
  const FrictionTerm& friction() const { return friction_; }
  // That of the step, as it is now.
  double barrier_stiffness() const { return barrier_stiffness_; }

  // For the solution of a stage: true when surfaces intersect there, exactly. Then every later point of the step is checked before
  // it is accepted, and the stage must be solved again. False from then on.
  bool NeedsThoroughRetry();
  // Whether the exact check refuses the current point, after NeedsThoroughRetry said so. For whoever accepts points without asking
  // for their energy.
  bool Intersects();
  // Points that the exact check refused since BeginStep. Collision detection promises none.
  int exact_rejections() const { return exact_rejections_; }

 private:
  struct TimedTerm {
    EnergyTerm* term;
    Stage stage;
    int32_t body;  // that alone moves it; -1: not of one body
  };
  // Terms of what does not move are constant.
  bool Rests(const TimedTerm& term) const { return term.body >= 0 && !asleep_.empty() && asleep_[term.body] != 0; }
  void CollectFixedPairs();
  // Candidates for q, and for every short motion from there to `other`, with room to spare. False when they were there already.
  bool CoverMotion(const VecX& q, const VecX& other, double margin);
  // Anchors of collision detection at a point, which is then the one that x_ and travel_ are of.
  void MoveTo(const VecX& q);
  void Place(const VecX& q);
  // Surface positions of a point, of what has been selected there and what friction needs, and how far they are from their anchors.
  void Look(const VecX& q, const BroadPhase::Selection& selection, std::vector<Vec3>* x, VertexTravel* travel);
  // Surface positions of where the stage starts, of all that stencils have.
  template <typename Stencils>
  void PlaceStart(const Stencils& stencils, VertexList* vertices);
  double Displacement(const VecX& from, const VecX& to) const;
  double PositionRounding() const;
  // Largest part of the way from q_ to q_trial_ that collision detection finds free: where it is short from what is near anyway,
  // else from what comes near just there. Both find the same.
  double FreePart();
  double FreeInRegions(bool all);
  double FreeOnWay();
  void RebuildPattern(BlockMatrix* hessian);
  bool Refused(bool refused);
  // The exact check of the current point, which shares no code with collision detection.
  bool TrianglesMeet();

  const Model* model_;
  ThreadPool* pool_;
  StageSeconds* seconds_;
  Interrupt* interrupt_;
  SurfaceMap map_;
  TurningMotion turning_;
  BroadPhase broad_phase_;
  PathPairs path_pairs_;
  ContactSet contacts_;
  BarrierTerm barrier_;
  FrictionTerm friction_;
  FrictionRemainder friction_remainder_;
  ModelTerms owned_;
  std::vector<TimedTerm> terms_;
  std::vector<uint8_t> asleep_;
  double barrier_stiffness_ = 0;
  PinchDetector pinch_;
  bool may_stiffen_ = true;  // until that has been found to be of no use in this step
  double stiffer_ = 0;       // what Stiffen() sets
  std::vector<double> node_inertia_;
  std::optional<StageContext> stage_;
  double contact_share_ = 1;
  int exact_rejections_ = 0;
  bool thorough_ = false;  // check every point
  StepLimit max_step_limit_ = StepLimit::kNothing;
  bool covered_ = true;  // all of the last examined motion was inside the regions of the broad phase
  double least_reach_ = 0;
  double reach_ = 0;       // largest displacement of a Newton direction that is examined, m
  double first_look_ = 0;  // and at once
  double far_ = 0;         // ways longer than this have no regions made for them, m

  VecX q_;
  bool contacts_current_ = false;  // contacts_ are those of q_
  VecX q_trial_;
  // Of the vertices that collision detection or a term may ask for.
  std::vector<Vec3> x_;
  std::vector<Vec3> x_trial_;
  std::vector<Vec3> x_tilde_;
  VertexList friction_vertices_, contact_vertices_;
  std::vector<int32_t> unselected_;
  std::vector<int32_t> every_vertex_;
  double fixed_extent_ = 0;  // largest coordinate of what never moves, m
  std::vector<BroadPhase::TrianglePair> near_triangles_;
  NodePairs checked_triangles_;
  VertexList checked_vertices_;
  VertexTravel travel_;                 // of x_ from the anchors of the broad phase
  const VertexList* placed_ = nullptr;  // whose x_ and travel_ are those of q_
  VertexTravel travel_on_way_;          // the same all the way to x_trial_
  NodePairs fixed_pairs_;               // of all other terms, with the diagonal; sorted
  std::vector<uint8_t> varying_;        // by node: touched by a term other than contact whose Hessian is not constant
  NodePairs contact_pairs_;             // sorted
  NodePairs pattern_scratch_;
  std::vector<double> constant_values_;
  bool pattern_stale_ = true;
  bool constant_stale_ = true;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STAGE_PROBLEM_H_
