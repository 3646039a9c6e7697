#ifndef EIPC_SIM_ENERGY_MEMBRANE_H_
#define EIPC_SIM_ENERGY_MEMBRANE_H_

#include <array>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/energy/shell_body.h"
#include "sim/energy/term.h"

namespace eipc {

// F = [x1 - x0, x2 - x0] * inverse_rest, 3x2.
Mat32 MembraneGradient(const ShellBody& shell, size_t triangle, const VecX& q);

// sum_t A_t psi(F_t) (sim/material/membrane.h) and the stiffness-proportional part of Rayleigh damping, as that of ElasticityTerm.
class MembraneTerm : public EnergyTerm {
 public:
  // Both outlive this.
  MembraneTerm(const ShellBody* shell, ThreadPool* pool);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  void BindPattern(const BlockMatrix& hessian) override;

  // Without the damping, J.
  static double StoredEnergy(const ShellBody& shell, const VecX& q);
  // Largest fraction of dq that keeps area vectors on their sides (n(0) . n(t) >= |n(0)|^2 / 10) and stretches below the limit.
  static double MaxStep(const ShellBody& shell, const VecX& q, const VecX& dq);

 private:
  bool damped() const { return shell_->rayleigh_beta_s > 0; }
  double TriangleValue(size_t t, const VecX& q) const;
  Mat32 TriangleStress(size_t t, const VecX& q) const;

  const ShellBody* shell_;
  ThreadPool* pool_;
  double damping_ = 0;                               // beta / gamma h
  std::vector<std::array<Vec2, 3>> shape_gradient_;  // grad N_a in the plane at rest, 1/m
  std::vector<Mat6> damping_stiffness_;              // of the start of the step, only when damped
  std::vector<Mat32> f_tilde_;                       // only when damped
  std::vector<std::array<int64_t, 6>> slots_;        // of the blocks (a >= b) in the matrix
  std::vector<std::array<bool, 6>> transposed_;
  std::vector<double> value_;
  std::vector<Mat32> stress_;
  std::vector<std::array<Mat3, 6>> blocks_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_MEMBRANE_H_
