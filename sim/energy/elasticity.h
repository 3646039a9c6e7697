#ifndef EIPC_SIM_ENERGY_ELASTICITY_H_
#define EIPC_SIM_ENERGY_ELASTICITY_H_

#include <array>
#include <memory>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/energy/term.h"
#include "sim/linalg/scalar_sparse.h"
#include "sim/material/material.h"
#include "sim/mesh/condensed_stiffness.h"

namespace eipc {

// Linear tetrahedra of one material: elements of a full-space mesh, of a cage, or the single one of an affine body.
struct ElasticBody {
  Material material = LinearCorotated::FromModuli(1, 0);
  std::vector<Tet> nodes;          // global node indices
  std::vector<Mat3> inverse_rest;  // inverse of [X1-X0, X2-X0, X3-X0], 1/m
  std::vector<double> volume;      // elastic volume: of the solid inside the element, m^3
  double rayleigh_alpha_per_s = 0;
  double rayleigh_beta_s = 0;
  double strain_damping_s = 0;
  StrainDampingLaw strain_damping_law = StrainDampingLaw::kRateOfStrain;
  // Of an embedded body in the condensed coarse space, whose energy is that (condensed.h); its nodes are consecutive.
  std::shared_ptr<const CondensedStiffness> condensed;
};

// F = [x1-x0, x2-x0, x3-x0] * inverse_rest.
Mat3 DeformationGradient(const ElasticBody& body, size_t element, const VecX& q);

// sum_T V_T Psi(F_T) plus the stiffness-proportional part of Rayleigh damping, with the stiffness of the start of the step:
// (beta / 2 gamma h) sum V (F - F_tilde) : C0 : (F - F_tilde), whose force is -beta K v.
class ElasticityTerm : public EnergyTerm {
 public:
  ElasticityTerm(const ElasticBody* body, ThreadPool* pool);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  bool constant_hessian() const override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  void BindPattern(const BlockMatrix& hessian) override;

  // The energy without the damping, of any state, with rotations taken from that state: what the energy sensor reports, J.
  static double StoredEnergy(const ElasticBody& body, const VecX& q);
  // Largest fraction of dq that keeps every element of an inversion-forbidding material uninverted (1 for the others).
  static double MaxStep(const ElasticBody& body, const VecX& q, const VecX& dq);

 private:
  bool damped() const { return body_->rayleigh_beta_s > 0; }
  template <typename M>
  double ElementValue(const M& material, size_t e, const VecX& q) const;
  template <typename M>
  Mat3 ElementStress(const M& material, size_t e, const VecX& q) const;

  const ElasticBody* body_;
  ThreadPool* pool_;
  double damping_ = 0;                               // beta / gamma h
  std::vector<std::array<Vec3, 4>> shape_gradient_;  // grad N_a at rest, 1/m
  std::vector<Mat3> rotation_;                       // lagged
  std::vector<Mat9> damping_stiffness_;              // C0, only when damped
  std::vector<Mat3> f_tilde_;                        // only when damped
  std::vector<std::array<int64_t, 10>> slots_;       // of the blocks (a >= b) in the matrix
  std::vector<std::array<bool, 10>> transposed_;
  std::vector<double> element_value_;
  std::vector<Mat3> element_stress_;
  std::vector<std::array<Mat3, 10>> element_hessian_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_ELASTICITY_H_
