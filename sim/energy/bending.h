#ifndef EIPC_SIM_ENERGY_BENDING_H_
#define EIPC_SIM_ENERGY_BENDING_H_

#include <array>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/energy/hinge.h"
#include "sim/energy/shell_body.h"
#include "sim/energy/term.h"

namespace eipc {

// 1/2 da^T C da of the angles a at the inner edges of a sheet, da = a - a_rest, C constant and positive semidefinite
// (shell_body.h), and (beta / 2 gamma h) (a - a~)^T C (a - a~): Rayleigh damping. The Hessian is G C G^T, G the gradients of the
// angles, plus moments times Hessians of angles in a closed form that bounds them from above (hinge.h).
//
// Angles are taken in (-pi, pi): self-contact keeps a sheet from folding that far.
class BendingTerm : public EnergyTerm {
 public:
  // Both outlive this.
  BendingTerm(const ShellBody* shell, ThreadPool* pool);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  void BindPattern(const BlockMatrix& hessian) override;

  // The energy without the damping, J.
  static double StoredEnergy(const ShellBody& shell, const VecX& q);

 private:
  // Where a block goes in the matrix, whether it is to be transposed, and whether it is of one node with itself.
  struct Slot {
    int64_t at;
    bool transposed, diagonal;
  };

  // Angles and their gradients at q. Value, gradient and Hessian are asked for at the same point one after the other, so those of
  // the last point are kept.
  void FindAngles(const VecX& q, bool with_gradients);
  void FindMoments(const VecX& q, bool with_gradients);
  // Adds C da.
  void AddMoments(const std::vector<double>& change, double factor);
  void AddFour(size_t four, int block, const Mat3s& by_columns, BlockMatrix* hessian) const;
  void AddCoupling(size_t c, double stiffness, BlockMatrix* hessian) const;

  const ShellBody* shell_;
  ThreadPool* pool_;
  double damping_ = 0;  // beta / gamma h
  std::vector<double> angle_tilde_;
  VecX q_;  // the point of angles_, and of gradients_ and gradient_ where has_gradients_
  bool has_gradients_ = false;
  // By hinge; moments, stiffnesses and gradients (three numbers and a zero for each node) end with what fills up the last four.
  std::vector<double> change_, rate_, moment_, stiffness_;
  std::vector<std::array<Quad, 4>> gradient_;
  // By four hinges.
  std::vector<HingeAngles> angles_;
  std::vector<HingeAngles::Gradients> gradients_;
  std::vector<std::array<Slot, 10>> hinge_slots_;  // blocks (a >= b)
  std::vector<std::array<Slot, 16>> pair_slots_;   // blocks (a, b) of a coupling
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_BENDING_H_
