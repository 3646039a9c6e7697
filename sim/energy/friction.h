#ifndef EIPC_SIM_ENERGY_FRICTION_H_
#define EIPC_SIM_ENERGY_FRICTION_H_

#include <array>
#include <vector>

#include "sim/base/types.h"
#include "sim/contact/contact_set.h"
#include "sim/energy/surface_map.h"
#include "sim/energy/term.h"

namespace eipc {

// Smoothed Coulomb friction, f1(y) = y/e (2 - y/e) below e, else 1, and its integral f0 with f0(e) = e (Li et al. 2020, eqs.
// 17-18).
double FrictionF0(double y, double epsilon);
double FrictionF1OverY(double y, double epsilon);
double FrictionF1Derivative(double y, double epsilon);

// One lagged contact: tangent frame, weights and the limit mu lambda, all frozen.
struct FrictionStencil {
  std::array<int32_t, 4> v;
  std::array<double, 4> w;
  Eigen::Matrix<double, 3, 2> tangent;
  double limit = 0;  // mu lambda, N
  ContactKind kind = ContactKind::kPointTriangle;
  int32_t body_a = 0;
  int32_t body_b = 0;
};

// D = sum mu lambda f0(|u|), u = T^T sum_i w_i (x_i - x_tilde_i): the tangential displacement of the *stage*, gamma h T^T v, with
// threshold eps_v gamma h (method.md 2). lambda and T come from the last Lag call.
class FrictionTerm : public EnergyTerm {
 public:
  FrictionTerm(const SurfaceMap* map, const CollisionSurface* surface, double friction_velocity_m_s)
      : map_(map), surface_(surface), friction_velocity_(friction_velocity_m_s) {}

  // Freezes normal forces, tangent frames and closest points of these contacts.
  void Lag(const ContactSet& contacts, const std::vector<Vec3>& x, double stiffness);
  const std::vector<FrictionStencil>& stencils() const { return stencils_; }
  // Force on each of the four vertices at the point, N.
  std::array<Vec3, 4> Forces(const FrictionStencil& stencil, const std::vector<Vec3>& x) const;

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;

 private:
  Vec2 Slip(const FrictionStencil& stencil, const std::vector<Vec3>& x) const;

  const SurfaceMap* map_;
  const CollisionSurface* surface_;
  double friction_velocity_;
  double epsilon_ = 0;  // eps_v gamma h, m
  const std::vector<Vec3>* x_tilde_ = nullptr;
  std::vector<FrictionStencil> stencils_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_FRICTION_H_
