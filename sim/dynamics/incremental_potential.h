#ifndef EIPC_SIM_DYNAMICS_INCREMENTAL_POTENTIAL_H_
#define EIPC_SIM_DYNAMICS_INCREMENTAL_POTENTIAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/contact/contact_set.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/contact_ahead.h"
#include "sim/dynamics/held_hessian.h"
#include "sim/dynamics/hessian_pattern.h"
#include "sim/dynamics/make_terms.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/surface_state.h"
#include "sim/energy/barrier.h"
#include "sim/energy/friction.h"
#include "sim/energy/friction_remainder.h"
#include "sim/energy/term.h"
#include "sim/solver/phase_timer.h"

namespace eipc {

// The incremental potential of one stage (docs/concepts/theory.md, eq. 5): the sum of a scene's terms over node positions, barrier
// and friction among them, at the surface's current point. Buffers that are kept between steps cannot change a bit: candidates are
// a superset in a fixed order, and the matrix pattern is a function of the scene and of the pairs that BeginStep is given.
class IncrementalPotential {
 public:
  // `surface` and `terms` outlive this. `interrupt` may be null.
  IncrementalPotential(const Model* model, SurfaceState* surface, const ModelTerms* terms, ThreadPool* pool, PhaseSeconds* seconds,
                       Interrupt* interrupt);

  // Terms of bodies that sleep (by body, non-zero) are constant and left out.
  void SetAsleep(const std::vector<uint8_t>& asleep);
  // `contact_pairs`: State::contact_pairs of the start.
  void BeginStep(double barrier_stiffness, const NodePairs& contact_pairs);
  // The references must outlive the stage. See StageContext.
  void BeginStage(const VecX& q_start, const VecX& q_tilde, const VecX& v_tilde, double gamma_h, double force_share);
  const StageContext& stage() const { return *stage_; }
  // Contact and friction count `share` times from the next LagFriction and evaluation on (1 after BeginStep).
  void SetContactWeight(double share);
  void SetBarrierStiffness(double stiffness);
  // Contacts of the surface's current point.
  void UpdateContacts();
  // Friction forces and frames from the current point's contacts.
  void LagFriction();
  void PrepareRemainder();

  double Energy();
  double EnergyRounding();
  void BarrierGradient(VecX* gradient) { barrier_.AddGradient(Here(), gradient); }
  void FrictionGradient(VecX* gradient) { friction_.AddGradient(Here(), gradient); }
  void Gradient(VecX* gradient);
  // Minus the gradient of all terms but inertia, with the forces that inertia folds in.
  void Forces(VecX* force);
  bool Hessian(BlockMatrix* hessian);
  // NewtonProblem::InexactHessian and HoldNoHessian.
  bool InexactHessian() const { return holding_.some || holding_.projected || holding_.approximate; }
  void HoldNoHessian() { holding_.allowed = false; }
  void RankOneUpdates(LowRank* updates);
  bool UseExactHessian();
  // NewtonProblem::AddCurvature.
  bool AddCurvature(const VecX& dq, const VecX& end, VecX* gradient) { return barrier_.AddCurvature(Here(), dq, end, gradient); }
  // NewtonProblem::ObserveDirection.
  double ObserveDirection(const VecX& direction);
  bool Project();
  // Nodes that terms without a constant Hessian touch: contact, friction, elements of nonlinear materials.
  void ChangingNodes(std::vector<uint8_t>* nodes) const { pattern_.ChangingNodes(nodes); }
  // Row sums of |M| / (gamma h)^2.
  const std::vector<double>& NodeInertia();

  const ContactSet& contacts() const { return contacts_; }
  const ContactPotential& contact_potential() const { return barrier_.potential(); }
  const FrictionTerm& friction() const { return friction_; }
  FrictionRemainder& remainder() { return remainder_; }
  const FrictionRemainder& remainder() const { return remainder_; }
  double barrier_stiffness() const { return strength_.barrier_stiffness; }
  // State::contact_pairs for the next step: those of the current point's contacts, and near ones (`present_only`), or all met so
  // far.
  void ContactPairs(bool present_only, NodePairs* out);

 private:
  struct TimedTerm {
    EnergyTerm* term;
    Phase phase;
    int32_t body;                                 // the only one that moves it; -1: there are several
    std::unique_ptr<HeldHessian> held = nullptr;  // of terms that may hold theirs
  };
  Point Here() const { return {surface_->q(), surface_->x()}; }
  bool IsConstant(const TimedTerm& t) const { return t.body >= 0 && !asleep_.empty() && asleep_[t.body] != 0; }
  template <typename Visit>
  void ForEachTerm(Visit visit);
  void DropHessians();
  // `again`: to the Hessian of a point that it has been added to before.
  void AddHessian(const TimedTerm& t, bool again, BlockMatrix* hessian);
  // Fills start_ for these.
  template <typename Stencils>
  void PlaceStart(const Stencils& stencils, VertexList* vertices);

  const Model* model_;
  SurfaceState* surface_;
  const ModelTerms* owned_;
  ThreadPool* pool_;
  PhaseSeconds* seconds_;
  Interrupt* interrupt_;
  ContactSet contacts_;
  BarrierTerm barrier_;
  FrictionTerm friction_;
  FrictionRemainder remainder_;
  std::vector<TimedTerm> terms_;
  std::vector<uint8_t> asleep_;
  std::optional<StageContext> stage_;
  struct Strength {
    double barrier_stiffness = 0;
    double contact_weight = 1;
  } strength_;
  HessianPattern pattern_;
  std::optional<ContactAhead> ahead_;
  struct ConstantPart {
    std::vector<double> values;
    bool stale = true;
  } constant_;  // of the Hessian: of the terms whose own is constant in a stage
  struct Holding {
    bool allowed = true;  // in this stage
    bool some = false;    // terms of the last Hessian are those of an earlier point
    bool projected = false;
    bool approximate = false;  // some term's always is
  } holding_;
  std::vector<double> node_inertia_;
  // Surface positions of where the stage starts, of the vertices that stencils have.
  struct StageStart {
    std::vector<Vec3> x;
    VertexList friction_vertices, contact_vertices;
  } start_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_INCREMENTAL_POTENTIAL_H_
