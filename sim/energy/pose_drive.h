#ifndef EIPC_SIM_ENERGY_POSE_DRIVE_H_
#define EIPC_SIM_ENERGY_POSE_DRIVE_H_

#include <array>
#include <utility>
#include <vector>

#include "sim/energy/drive_force.h"
#include "sim/energy/linear_vector.h"
#include "sim/energy/term.h"

namespace eipc {

// A frame that is fixed to an affine body: its origin and its axes as functions of node positions.
struct BodyFrame {
  LinearVector origin;
  std::array<LinearVector, 3> axes;
};

// Along the axes of the commanded frame, N/m, N s/m, N; and of turns, N m/rad, N m s/rad, N m.
struct PoseDriveGains {
  Vec3 stiffness = Vec3::Zero();
  Vec3 damping = Vec3::Zero();
  Vec3 max_force = Vec3::Zero();
  double turn_stiffness = 0;
  double turn_damping = 0;
  double max_moment = 0;
};

// What a pose drive exerts on the body, world frame; the moment about the frame's origin.
struct PoseDriveLoad {
  Vec3 force = Vec3::Zero();
  Vec3 moment = Vec3::Zero();
  bool saturated = false;  // within 1 % of a limit
};

// Draws a body's frame (origin p, axes A = [a_1 a_2 a_3]) to a commanded one (origin p*, axes R = [n_1 n_2 n_3]), with limits
// (docs/concepts/theory.md, eqs. 28, 29):
//   E(q) = sum_i V_i(n_i . (p - p*)) + W(r),   r^2 = 1/2 sum_k |a_k - c_k|^2.
// V_i is the potential of DriveForce. With the stiffness K = k + c / (gamma h) of turns, c_k lies between R and where A would be
// had it turned with the command since the stage began, (k R + c / (gamma h) R R_0^T A~) / K, so that W counts spring and damper;
// W = K r^2 / 2 up to r = M / K, and M (r - M / 2K) beyond. Turned by an angle t, r = 2 sin(t / 2): the moment is K sin t, and no
// more than M. p and A are linear in q and V_i, W convex in them: E is convex, whatever the gains and the step.
class PoseDriveTerm : public EnergyTerm {
 public:
  // `frame` outlives this.
  PoseDriveTerm(const BodyFrame* frame, const PoseDriveGains& gains);

  // Where the frame should be at the end of the next stage, and where it should have been where the velocities of that stage are
  // counted from (q_tilde). Before BeginStage.
  void Command(const Pose& commanded, const Pose& before) {
    commanded_ = commanded;
    before_ = before;
  }
  PoseDriveLoad LoadAt(const VecX& q) const;

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;

 private:
  using Columns = std::array<Vec3, 3>;
  Columns AxesAt(const VecX& q) const { return {frame_->axes[0].At(q), frame_->axes[1].At(q), frame_->axes[2].At(q)}; }
  // Forces on what has p and a_k as its coordinates: minus the gradient by them.
  struct Forces {
    Vec3 origin;
    Columns axes;
  };
  Forces ForcesAt(const VecX& q) const;
  // W' / 2r, which times a_k - c_k is the gradient by a_k.
  double TurnFactor(double r) const;
  double Away(const Columns& axes) const;  // r

  const BodyFrame* frame_;
  PoseDriveGains gains_;
  std::vector<int32_t> nodes_;                  // ascending
  std::vector<std::array<double, 4>> weights_;  // of each node in p and the a_k
  Pose commanded_, before_;
  Mat3 directions_ = Mat3::Identity();  // n_i
  std::array<DriveForce, 3> pulls_;
  Columns aims_ = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};  // c_k
  double turn_stiffness_ = 0;                                  // K
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_POSE_DRIVE_H_
