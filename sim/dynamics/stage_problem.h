#ifndef EIPC_SIM_DYNAMICS_STAGE_PROBLEM_H_
#define EIPC_SIM_DYNAMICS_STAGE_PROBLEM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/collision_guard.h"
#include "sim/dynamics/contact_groups.h"
#include "sim/dynamics/exact_check.h"
#include "sim/dynamics/incremental_potential.h"
#include "sim/dynamics/make_terms.h"
#include "sim/dynamics/missed_contacts.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/pose_drives.h"
#include "sim/dynamics/sliders.h"
#include "sim/dynamics/surface_state.h"
#include "sim/dynamics/turning_motion.h"
#include "sim/solver/phase_timer.h"
#include "sim/solver/root_solver.h"

namespace eipc {

// A contact whose gap is small, with the gradient of its distance by vertex.
struct TightContact {
  double relative_gap;  // as a part of its dhat
  std::array<int32_t, 4> v;
  std::array<Vec3, 4> gradient;
};

// One stage of one step, as solvers see it: a minimization, or a root where friction is implicit. It joins the surface at the
// current point (SurfaceState), the potential there (IncrementalPotential), how far the point may move (CollisionGuard), and the
// exact check of points before they are accepted (ExactCheck).
class StageProblem : public RootProblem {
 public:
  // `interrupt`, which ends searches for contact and collisions early, may be null.
  StageProblem(const Model* model, ThreadPool* pool, PhaseSeconds* seconds, Interrupt* interrupt = nullptr);

  // By node, non-zero: its motion is prescribed, now. Outlives this.
  void SetFixed(const std::vector<uint8_t>* fixed) { groups_.SetFixed(fixed); }
  // Before BeginStep: bodies (by body, non-zero; empty: none) whose nodes stay as they are in every step until this is called
  // again.
  void SetAsleep(const std::vector<uint8_t>& asleep);
  // `q_start`: state at the start of the step; `q_guess`: where it is expected to go. `contact_pairs`: State::contact_pairs of the
  // start.
  void BeginStep(const VecX& q_start, const VecX& q_guess, double barrier_stiffness, const NodePairs& contact_pairs);
  // After BeginStep: the velocities at its start. What a stage is predicted with may have the forces of the start in it, contact's
  // too, and says nothing of how hard an impact is. Outlives the step. Null: those that the stage is predicted with.
  void SetStartVelocity(const VecX* v) { v_start_ = v; }
  // Before BeginStage: the guides and drives of sliders in it, one per Model::sliders; the frames of pose drives; the laws of the
  // drives of joints, one per Model::joints.
  void CommandSliders(const std::vector<SliderStage>& sliders);
  void CommandPoses(const std::vector<PoseStage>& poses);
  void CommandJoints(const std::vector<DriveLaw>& laws);
  // The references must outlive the stage. See StageContext.
  void BeginStage(const VecX& q_start, const VecX& q_tilde, const VecX& v_tilde, double gamma_h, double force_share = 1);
  // Contact and friction count `share` times from the next LagFriction and evaluation on (1 after BeginStep).
  void SetContactWeight(double share) { potential_.SetContactWeight(share); }
  // Before BeginStage: the state at the start of the part of the step, from which angles of joints count.
  void BeginJoints(const State& from);
  // What joints and pose drives exert in this stage at q, one per Model::joints and Model::pose_drives.
  std::vector<JointLoad> JointLoads(const VecX& q) const;
  std::vector<PoseDriveLoad> PoseDriveLoads(const VecX& q) const;
  // Forces of drives in this stage at q, N, one per Model::sliders.
  std::vector<double> DriveForces(const VecX& q) const;
  // Friction forces and frames from the current point's contacts.
  void LagFriction() { potential_.LagFriction(); }
  // State::contact_pairs for the next step: those of the current point's contacts, and near ones (`present_only`),
  // or all met so far.
  void ContactPairs(bool present_only, NodePairs* out) { potential_.ContactPairs(present_only, out); }

  void SetPoint(const VecX& q) override;
  // Infinite where Intersects().
  double Energy() override;
  double EnergyRounding() override { return potential_.EnergyRounding(); }
  void Gradient(VecX* gradient) override { potential_.Gradient(gradient); }
  // The shares of the barrier, and of friction, in it; they are added.
  void BarrierGradient(VecX* gradient) { potential_.BarrierGradient(gradient); }
  void FrictionGradient(VecX* gradient) { potential_.FrictionGradient(gradient); }
  // Minus the gradient of all terms but inertia, gravity included, N.
  void Forces(VecX* force) { potential_.Forces(force); }
  bool Hessian(BlockMatrix* hessian) override { return potential_.Hessian(hessian); }
  bool InexactHessian() const override { return potential_.InexactHessian(); }
  void HoldNoHessian() override { potential_.HoldNoHessian(); }
  const std::vector<double>& NodeInertia() override { return potential_.NodeInertia(); }
  void ChangingNodes(std::vector<uint8_t>* nodes) const override { potential_.ChangingNodes(nodes); }
  void RankOneUpdates(LowRank* updates) override { potential_.RankOneUpdates(updates); }
  bool UseExactHessian() override { return potential_.UseExactHessian(); }
  double ObserveDirection(const VecX& direction) override { return potential_.ObserveDirection(direction); }
  bool Project() override { return potential_.Project(); }
  double MaxStep(const VecX& dq) override { return guard_.MaxStep(dq, contacts_current_ ? contacts().min_gap() : 0); }
  StepLimit MaxStepLimit() const override { return guard_.limited_by(); }
  bool Follow(const VecX& q, const VecX& dq, double fraction, VecX* out) const override {
    return turning_.Follow(q, dq, fraction, out);
  }
  bool AddCurvature(const VecX& dq, const VecX& end, VecX* gradient) override { return potential_.AddCurvature(dq, end, gradient); }
  void FindContactsMet(const VecX& direction, const VecX& reached, double fraction, size_t most, MetContacts* met) override;
  double ForceOfMet(const MetContact& contact, double gap) const override {
    return contact.scale * ContactPotential::UnitNormalForce(gap, contact.dhat);
  }
  bool InFriction(int32_t node) const override;
  // True when this is an impact that a stiffer barrier helps with, which Stiffen() then makes it.
  bool NeedsStifferBarrier() override;
  // Friction at the end of the stage: the potential frozen at a point is the one with friction lagged there.
  void Freeze() override { LagFriction(); }
  void PrepareRemainder() override { potential_.PrepareRemainder(); }
  void AddRemainderTimes(const VecX& dq, VecX* product) override { potential_.remainder().AddTimes(dq, product); }
  void RemainderBlocks(std::vector<NodeBlock>* blocks) const override { potential_.remainder().Blocks(blocks); }

  // A drive made no progress in this step: a stiffer barrier may be of no use to it.
  void NoteBlockedDrive() { drive_blocked_ = true; }
  void Stiffen() { potential_.SetBarrierStiffness(stiffer_); }
  // Moves on a straight line from the current point to `q`; false when a collision stops it, which leaves it in between.
  bool GoStraight(const VecX& q);
  // What limited the last MaxStep: a pair of primitives, or none when it was something else.
  Obstacle FindObstacle() const { return guard_.FindObstacle(); }
  // The gradients of the distances of the current point's contacts whose distance is below `relative_gap` of their dhat.
  void TightContacts(double relative_gap, std::vector<TightContact>* out) const;
  // The smallest gap of the current point that forces can open, as a part of its dhat; 1: there is none.
  double LeastGap() const { return groups_.LeastGap(); }
  // Of the current point, where a part of a step of dt_s ends with the velocities v, which it began with v_before, and drives of
  // these bodies were stopped (by body, non-zero; empty: none).
  const std::vector<ContactGroup>& MeasureContactGroups(const VecX& v, const VecX& v_before, double dt_s,
                                                        const std::vector<uint8_t>& stopped);

  // ExactCheck::RefusesSolution, RefusesPoint and rejections.
  bool RefusesSolution();
  bool Intersects();
  int exact_rejections() const { return check_.rejections(); }

  const SurfaceMap& map() const { return surface_.map(); }
  // SurfaceState::x.
  const std::vector<Vec3>& x() const { return surface_.x(); }
  const ContactSet& contacts() const { return potential_.contacts(); }
  // With the present stiffness and share.
  const ContactPotential& contact_potential() const { return potential_.contact_potential(); }
  const FrictionTerm& friction() const { return potential_.friction(); }
  // That of the step, as it is now.
  double barrier_stiffness() const { return potential_.barrier_stiffness(); }

 private:
  MissedContacts::Present ContactsHere() const { return {contacts(), contact_potential(), x(), map()}; }
  // That the stage would end with if nothing touched; of prescribed nodes that of the current point.
  void FindFreeVelocity(VecX* v) const;

  const Model* model_;
  PhaseSeconds* seconds_;
  Interrupt* interrupt_;
  SurfaceState surface_;
  ModelTerms terms_;
  IncrementalPotential potential_;
  CollisionGuard guard_;
  ExactCheck check_;
  TurningMotion turning_;
  ContactGroups groups_;
  struct Scratch {
    VecX here, v, gradient;
  } scratch_;
  std::vector<uint8_t> asleep_;
  bool contacts_current_ = false;  // the potential's contacts are those of the surface's point
  MissedContacts missed_;
  PinchDetector pinch_;
  bool may_stiffen_ = true;  // until that has been found to be of no use in this step
  bool drive_blocked_ = false;
  const VecX* v_start_ = nullptr;
  double stiffer_ = 0;  // what Stiffen() sets
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STAGE_PROBLEM_H_
