#ifndef EIPC_SIM_ENERGY_STRAIN_ENERGY_DAMPING_H_
#define EIPC_SIM_ENERGY_STRAIN_ENERGY_DAMPING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/energy/present_shape.h"
#include "sim/energy/term.h"

namespace eipc {

// Damping by the strain energy of the change of shape (Kharevych et al. 2006, section 5.2): the force -(k / gamma h) grad
// W(C(q_tilde, q)), W the body's elastic energy if the shape q_tilde were free of stress, is the gradient of the potential k W /
// gamma h. To the first order in the change of shape that is -k K0(q_tilde) v (strain_damping.h). q_tilde is where the stage comes
// from with its velocity: q_k under backward Euler and the Hamilton-Pontryagin family, q_{k-1} where alpha = 0, as in the paper's
// explicit form.
//
// W turns with q, so forces have neither sum nor moment about q, and a rigid motion meets none, however far it turns. The paper
// adds the impulse h f whole to v and p; here it is one more force at q, by which the Hamilton-Pontryagin family keeps both momenta
// at every alpha (the paper's implicit form changes angular momentum by sum q_k x f). With linear corotated elasticity, whose
// rotation is that of the start, here none, angular momentum is not kept.
class StrainEnergyDampingTerm : public EnergyTerm {
 public:
  explicit StrainEnergyDampingTerm(const ElasticBody* body) : body_(body), shape_(body) {}

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;

 private:
  // Of q over q_tilde.
  Mat3 Deformation(size_t element, const VecX& q) const { return Mat3::Identity() + shape_.Gradient(element, q, q_tilde_); }

  const ElasticBody* body_;
  double scale_ = 0;  // k / gamma h
  VecX q_tilde_;
  PresentShape shape_;  // q_tilde
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_STRAIN_ENERGY_DAMPING_H_
