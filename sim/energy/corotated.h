#ifndef EIPC_SIM_ENERGY_COROTATED_H_
#define EIPC_SIM_ENERGY_COROTATED_H_

#include <vector>

#include "sim/base/parallel.h"
#include "sim/energy/elasticity.h"
#include "sim/energy/term.h"
#include "sim/energy/tet_lanes.h"

namespace eipc {

// ElasticityTerm for linear corotated bodies, four tetrahedra at a time, one in each lane of the vector registers. The elastic
// energy is quadratic while rotations are lagged, and so is its damping, whose stiffness is that of the material: with
//     eps(A) = (R0^T A + A^T R0) / 2,   W(E) = mu |E|^2 + lambda/2 tr(E)^2,
// an element has V W(eps(F) - I) + (beta / gamma h) V W(eps(F - F_tilde)).
class CorotatedTerm : public EnergyTerm {
 public:
  // `body` is of a LinearCorotated material.
  CorotatedTerm(const ElasticBody* body, ThreadPool* pool);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  bool constant_hessian() const override { return true; }
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  void BindPattern(const BlockMatrix& hessian) override;

 private:
  bool damped() const { return body_->rayleigh_beta_s > 0; }
  void FindForces(size_t g, const VecX& q);
  void FindBlocks(size_t g, TetLanes::Blocks* blocks) const;

  const ElasticBody* body_;
  ThreadPool* pool_;
  double mu_ = 0, lambda_ = 0;  // Pa
  double damping_ = 0;          // beta / gamma h
  TetLanes tets_;
  std::vector<Mat3s> rotation_;  // lagged
  std::vector<Mat3s> f_tilde_;   // only when damped
  std::vector<Quad> value_;      // J
  std::vector<TetLanes::Forces> forces_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_COROTATED_H_
