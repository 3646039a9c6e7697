#ifndef EIPC_SIM_ENERGY_MEMBRANE_H_
#define EIPC_SIM_ENERGY_MEMBRANE_H_

#include <vector>

#include "sim/base/parallel.h"
#include "sim/energy/shell_body.h"
#include "sim/energy/term.h"
#include "sim/energy/triangle_lanes.h"

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
  // Of four triangles, constant in a stage: (beta / 2 gamma h) r^T C r with the rate r = F - F~ and C the projected second
  // derivatives at the start of the step.
  struct Damping {
    MembraneModes modes;  // of beta / (gamma h) C
    TriangleLanes::Blocks blocks;
    Mat32s f_tilde;

    Quad Work(const Mat32s& rate) const;  // beta / (gamma h) r^T C r
    void AddStress(const Mat32s& rate, Mat32s* stress) const;
  };
  template <typename Visit>
  void ForGroups(const Visit& visit);
  // Value, gradient and Hessian are asked for at the same point one after the other, so the stretches of the last one are kept.
  void FindMembranes(const VecX& q);

  const ShellBody* shell_;
  ThreadPool* pool_;
  TriangleLanes lanes_;
  VecX q_;  // the point of membranes_ and rates_ where has_membranes_
  bool has_membranes_ = false;
  // By group of four triangles.
  std::vector<MembraneLanes> membranes_;
  std::vector<Mat32s> rates_;     // only when damped
  std::vector<Damping> damping_;  // only when damped
  std::vector<TriangleLanes::Forces> forces_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_MEMBRANE_H_
