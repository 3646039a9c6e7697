#ifndef EIPC_SIM_ENERGY_STRAIN_DAMPING_H_
#define EIPC_SIM_ENERGY_STRAIN_DAMPING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/energy/present_shape.h"
#include "sim/energy/term.h"

namespace eipc {

// Damping of the rate of strain: force -k K0(q^n) v with K0 the stiffness that the shape at the start of the step has when it is
// free of stress, as the potential (k / 2 gamma h) sum_T v_T e : C : e, e the symmetric part of the gradient of q - q_tilde over
// that shape. It is the quadratic part of the damping of Kharevych et al. 2006 (5.2, strain_energy_damping.h). Neither translation
// nor rotation of that shape is damped, so forces have neither sum nor moment about it: an integrator that takes forces where the
// step starts (VARIATIONAL with alpha = 0) keeps both momenta, others linear momentum only.
class StrainDampingTerm : public EnergyTerm {
 public:
  explicit StrainDampingTerm(const ElasticBody* body);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  bool constant_hessian() const override { return true; }
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;

 private:
  // Symmetric part of the gradient of q - q_tilde.
  Mat3 Strain(size_t element, const VecX& q) const;

  const ElasticBody* body_;
  Mat9 stiffness_;  // C: the material's at rest, of symmetric parts
  double scale_ = 0;
  VecX q_tilde_;
  PresentShape shape_;  // at the start of the step
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_STRAIN_DAMPING_H_
