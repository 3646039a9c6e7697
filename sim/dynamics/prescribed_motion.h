#ifndef EIPC_SIM_DYNAMICS_PRESCRIBED_MOTION_H_
#define EIPC_SIM_DYNAMICS_PRESCRIBED_MOTION_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/interrupt.h"
#include "sim/collision/obstacle.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/dynamics/state.h"
#include "sim/solver/newton_report.h"
#include "sim/solver/newton_system.h"
#include "sim/solver/root_solver.h"
#include "sim/solver/solve_context.h"
#include "sim/solver/trial_move.h"

namespace eipc {

// The motion of the nodes that are prescribed: those of drives (kinematic bodies and boundary sets), and those of sleeping bodies,
// which stay where they are. Solvers know these nodes as fixed ones; only this class moves them.
//
// Nodes of a drive that does not turn move straight, at a constant speed, from where they are at the start of a part of a step to
// where its command places them at the end. A drive that turns is a rigid frame wherever a stage ends or it is stopped: its nodes
// are those of the pose at that fraction of its path, linear in position and spherical in rotation, and move straight in between.
//
// A move takes all drives as far as collision detection admits, with the free nodes following by H_ff d_f = -g_f - H_fp d_p. Where
// a pair of primitives admits no progress, each drive is judged by the part that it has in closing the pair's gap: by the motion
// that the drive alone makes of the free bodies, d_f = -H_ff^-1 H_fp d_p, so through the bodies between as well. Drives that close
// the gap wait until the free nodes have been relaxed; the others continue. A drive that makes no progress several times in a row
// is stopped for this stage, independently of the others: at once where all is at rest around it, and sooner where the step before
// left it behind, since all has come to rest since (docs/concepts/theory.md, section 10).
//
// A drive has no limit to its force. Pressed against something that cannot yield it would end at gaps of the size of rounding,
// where collision detection admits no motion, not even apart, and matrices lose their pivots. So no drive closes a gap below
// kTightestGap of the distance at which contact begins, where the pressure is 1e4 times that at a half of it.
class PrescribedMotion {
 public:
  static constexpr double kTightestGap = 1e-4;

  // `interrupt` may be null.
  PrescribedMotion(const Model* model, NewtonSystem* system, Interrupt* interrupt);

  // Free nodes follow by the Jacobian of this solver, for implicit friction, instead of the Hessian.
  void UseJacobian(RootSolver* root) { root_ = root; }
  // A part of a step from `from`, at whose end the drives are to be where `drives` commands.
  void BeginPart(const State& from, const std::vector<State::Drive>& drives);
  // From the start of the part, with these nodes (by node, non-zero) staying where they are beside those of the drives.
  void BeginAttempt(const std::vector<uint8_t>& nodes);
  // A stage whose end is at the fraction `end` of the part, with the drives' nodes at q.
  void BeginStage(double end, const VecX& q);
  // Takes the progress of the stage back: its nodes are where BeginStage found them.
  void RestartStage();

  // By node: prescribed ones, those of drives among them.
  const std::vector<uint8_t>& fixed() const { return fixed_; }
  const std::vector<uint8_t>& driven() const { return driven_; }
  // Where prescribed nodes should be at the end of the part, and of the stage; other entries: the start.
  const VecX& target() const { return target_; }
  const VecX& stage_target() const { return stage_target_; }
  // Writes where prescribed nodes are at a fraction of their paths; other entries are left alone.
  void PlaceOnPath(double fraction, VecX* q) const;
  // Where the end of the part is extrapolated from that of the stage: writes the nodes of drives that were stopped while they
  // turned, which stay rigid there too.
  void ExtrapolateStopped(VecX* q) const;

  int drive_count() const { return static_cast<int>(drives_.size()); }
  // Whether a drive has not arrived and has not been stopped, and whether all of those wait for the free nodes.
  bool Pending() const;
  bool AllWait() const;
  // By body, non-zero: a drive of it did not arrive in the last stage, stopped or out of time or iterations.
  std::vector<uint8_t> StoppedBodies() const;
  // Whether a drive made no progress in its last move.
  bool Blocked() const;
  // Ends the waiting, once the free nodes have been relaxed. `at_rest`: that moved nothing any more, so what is blocked stays so.
  void Resume(bool at_rest = false);
  // Moves all nodes from *q, the problem's current point, towards `guess`, where prescribed nodes are at the stage's target. Where
  // drives have been moving while all free nodes are at rest, which is after a step that time cut short, only drives move that take
  // nothing along: others would tear their nodes away from the rest of their bodies. Those are pending then, and take that along.
  void MoveToGuess(StageProblem* problem, const VecX& guess, VecX* q);
  // One move of the drives that are pending and do not wait, with the free nodes following. `*q` is the problem's current point,
  // before and after. An iteration of the solve: it is counted in *report. Error only from the interrupt.
  absl::Status Advance(StageProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report);

 private:
  struct Drive {
    Pose start, goal;
    bool turns = false;
    double fraction = 0;        // of the part's path
    double stage_fraction = 0;  // the same at the start of the stage
    bool behind = false;        // it did not arrive in the step before
    int patience = 0;           // moves without progress, in a row, before it is stopped
    int blocked = 0;            // of these
    bool waits = false;
    bool in_vain = false;  // it waited, and nothing moved
    bool stopped = false;
    bool alone = false;  // drives have been moving while all other nodes are at rest
  };
  bool Moving(const Drive& drive) const { return !drive.stopped && !drive.waits && drive.fraction < end_; }
  // The remainder of the drives that move, or of one of them, zero at other nodes.
  void Remainder(const VecX& q, VecX* direction) const;
  void AddRemainder(size_t drive, const VecX& q, VecX* direction) const;
  // Adds to the remainder in *direction what the free nodes do: they follow, and move by their own forces where forces_ is set.
  bool Follow(StageProblem* problem, const SolveContext& context, VecX* direction, NewtonReport* report);
  // The same without their own forces.
  bool Respond(StageProblem* problem, const SolveContext& context, VecX* direction);
  bool LeavesBehind() const;
  bool TakesNothingAlong(const StageProblem& problem, size_t drive) const;
  void LandOnTargets();
  // Goes as far along the trial move, which ends at `fraction` of the drives' remainders, as is neither refused by the exact check
  // nor by the rule of the tightest gap. Returns the fraction. *obstacle is replaced when that rule shortened the move. Gaps are
  // closed by what the drives do to the free nodes, by the matrix of the last Follow; by the drives alone without a context.
  double Accept(StageProblem* problem, const SolveContext* context, double fraction, VecX* q, Obstacle* obstacle);
  void PlaceDrive(size_t drive, double fraction, VecX* q) const;
  // Puts the nodes of moving drives on their paths in the trial point; returns the admissible fraction.
  double PlaceOnPaths(StageProblem* problem, const VecX& q, double fraction);
  double LeastGapClosed(StageProblem* problem, const SolveContext* context, Obstacle* obstacle);
  void AwaitRelaxation();
  void Judge(StageProblem* problem, const SolveContext& context, const Obstacle& obstacle);

  const Model* model_;
  NewtonSystem* system_;
  RootSolver* root_ = nullptr;
  Interrupt* interrupt_;
  std::vector<Drive> drives_;  // one per Model::boundary_sets
  double end_ = 1;             // of the stage
  bool forces_ = true;         // the next move includes the free nodes' own motion
  std::vector<uint8_t> driven_, fixed_;
  VecX start_, target_, stage_target_;
  TrialMove move_;
  VecX direction_, gradient_, chord_, before_;
  std::vector<uint8_t> moving_;  // by drive: in the last move
  std::vector<double> closing_;  // by drive
  struct GapRule {
    std::vector<TightContact> contacts;
    VecX driving;        // the motion that the drives make
    bool known = false;  // with that of the free nodes
  } tight_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_PRESCRIBED_MOTION_H_
