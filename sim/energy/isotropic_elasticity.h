#ifndef EIPC_SIM_ENERGY_ISOTROPIC_ELASTICITY_H_
#define EIPC_SIM_ENERGY_ISOTROPIC_ELASTICITY_H_

#include <utility>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/energy/elasticity.h"
#include "sim/energy/last_point.h"
#include "sim/energy/term.h"
#include "sim/energy/tet_lanes.h"
#include "sim/material/lane_modes.h"

namespace eipc {

// ElasticityTerm for bodies of an isotropic material, four tetrahedra at a time. Energy and forces come from the invariants of F in
// one pass, which is kept for the point at which it was made; the Hessian is assembled from modes (isotropic_projection.h) in the
// frames of a singular value decomposition, which starts at that of the start of the step. It is exact, with which Newton's method
// converges quadratically, until the sum of all Hessians is not positive definite; for the rest of the stage it is projected then
// (Project). What is added for a point depends on nothing but the point, the stage and that. It holds for others (HessianHolds) as
// long as no deformation gradient has changed by SameDeformation.
class IsotropicTerm : public EnergyTerm {
 public:
  // Whether the material of `body` can be treated by fours (lane_modes.h).
  static bool Serves(const ElasticBody& body);
  // `body` is one that is served.
  IsotropicTerm(const ElasticBody* body, ThreadPool* pool);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  void BindPattern(const BlockMatrix& hessian) override;

  bool HessianHolds(const Point& point) override;
  bool may_hold_hessian() const override { return holds_; }

  // Element by element.
  bool Project() override;

 private:
  // Of the damping: the projected Hessian C0 of the start of the step, in its frames, and F_tilde.
  struct Damping {
    LaneModes modes;
    Mat3s u;
    Mat3s f_tilde;
  };

  bool damped() const { return body_->rayleigh_beta_s > 0; }
  template <typename F>
  void ForEachGroup(const F& f);
  template <typename M>
  void Begin(const M& material, size_t g, const StageContext& stage);
  // Energy and forces at q, unless they are at hand.
  void Evaluate(const VecX& q);
  template <typename M>
  void EvaluateGroup(const M& material, size_t g, const VecX& q);
  template <typename M>
  void FindBlocks(const M& material, size_t g, const VecX& q, TetLanes::Blocks* blocks);

  const ElasticBody* body_;
  ThreadPool* pool_;
  double damping_ = 0;  // beta / gamma h
  bool projected_ = false;
  TetLanes tets_;
  bool holds_ = false;  // not where the energy has a wall, beside which nothing is nearly constant
  double lambda_over_mu_ = 0;
  double volume_ = 0;            // m^3
  double same_deformation_ = 0;  // in this stage
  std::vector<Mat3s> held_at_;   // F of the last Hessian, where it may hold
  std::vector<Mat3s> frame_;     // v of the start of the step
  std::vector<Damping> start_;   // only when damped
  LastPoint evaluated_;          // where value_ and forces_ belong to
  std::vector<Quad> value_;      // J
  std::vector<TetLanes::Forces> forces_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_ISOTROPIC_ELASTICITY_H_
