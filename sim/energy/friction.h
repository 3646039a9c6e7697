#ifndef EIPC_SIM_ENERGY_FRICTION_H_
#define EIPC_SIM_ENERGY_FRICTION_H_

#include <array>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/base/types.h"
#include "sim/contact/contact_potential.h"
#include "sim/contact/pair_friction.h"
#include "sim/energy/back_turn.h"
#include "sim/energy/friction_curve.h"
#include "sim/energy/surface_map.h"
#include "sim/energy/term.h"

namespace eipc {

// One lagged contact: tangent frame, weights and the limit mu lambda, all frozen.
struct FrictionStencil {
  std::array<int32_t, 4> v;
  std::array<double, 4> w;
  Eigen::Matrix<double, 3, 2> tangent;
  double limit = 0;  // mu lambda, mu the dynamic coefficient, N
  FrictionLaw law;
  ContactKind kind = ContactKind::kPointTriangle;
  int32_t body_a = 0;
  int32_t body_b = 0;
  BackTurn turn;
};

// D = sum mu lambda F0(|u|), F0 the integral of the law (smoothed Coulomb: f0), u = T^T sum_i w_i (x_i - x_tilde_i): the tangential
// displacement of the *stage*, gamma h T^T v, with threshold eps_v gamma h (theory.md, eq. 16). Lag sets lambda and T.
class FrictionTerm : public EnergyTerm {
 public:
  // All outlive this.
  FrictionTerm(const SurfaceMap* map, const PairFriction* pairs, double friction_velocity_m_s, ThreadPool* pool)
      : map_(map), pairs_(pairs), friction_velocity_(friction_velocity_m_s), pool_(pool) {}

  // Freezes normal forces, tangent frames and closest points of these contacts.
  void Lag(const ContactSet& contacts, const std::vector<Vec3>& x, const ContactPotential& potential);
  const std::vector<FrictionStencil>& stencils() const { return stencils_; }
  // Force on each of the four vertices at the point, N.
  std::array<Vec3, 4> Forces(const FrictionStencil& stencil, const std::vector<Vec3>& x) const;
  const std::vector<Vec3>& x_tilde() const { return *x_tilde_; }
  // Of the present stage.
  FrictionCurve Curve(const FrictionLaw& law) const { return {law, epsilon_, gamma_h_}; }

  // Told of the direction that Newton's method has found at the point: the Hessian then bounds slips that it takes back (BackTurn),
  // until they rest, the direction lets them go on, or the stage ends. Returns the largest speed, m/s, of slips that this direction
  // was found with bounds of: such a slip may be as far from its solution, however short the direction is.
  double ObserveDirection(const Point& point, const VecX& direction);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;

 private:
  void KeepTurns();
  Vec2 Slip(const FrictionStencil& stencil, const std::vector<Vec3>& x) const;
  // The Hessian of a stencil is w_i w_j of this.
  Mat3 Stiffness(const FrictionStencil& stencil, const std::vector<Vec3>& x) const;

  const SurfaceMap* map_;
  const PairFriction* pairs_;
  double friction_velocity_;
  ThreadPool* pool_;
  double epsilon_ = 0;  // eps_v gamma h, m
  double gamma_h_ = 1;
  const std::vector<Vec3>* x_tilde_ = nullptr;
  std::vector<FrictionStencil> stencils_;
  // Of contacts that a direction of this stage took back, sorted by vertices: a contact that is lost comes back as it was.
  struct Kept {
    std::array<int32_t, 4> v;
    BackTurn turn;
  };
  std::vector<Kept> kept_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_FRICTION_H_
