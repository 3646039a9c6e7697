#ifndef EIPC_SIM_ENERGY_FRICTION_REMAINDER_H_
#define EIPC_SIM_ENERGY_FRICTION_REMAINDER_H_

#include <vector>

#include "sim/base/parallel.h"
#include "sim/contact/contact_set.h"
#include "sim/energy/friction.h"
#include "sim/energy/surface_map.h"
#include "sim/linalg/lu_solver.h"

namespace eipc {

// The Jacobian of implicit friction at x (theory.md, eq. 17) less the Hessian of friction lagged at x: the derivatives of normal
// forces, sliding planes and closest points. Not symmetric; a 12 x 12 matrix for each active stencil with friction.
class FrictionRemainder {
 public:
  FrictionRemainder(const SurfaceMap* map, const PairFriction* pairs, ThreadPool* pool) : map_(map), pairs_(pairs), pool_(pool) {}

  // `contacts` are those of `x`; `friction` supplies thresholds and x_tilde of the stage.
  void Prepare(const ContactSet& contacts, const std::vector<Vec3>& x, const FrictionTerm& friction,
               const ContactPotential& potential);
  // product += J^T N J dq.
  void AddTimes(const VecX& dq, VecX* product) const;
  void Blocks(std::vector<NodeBlock>* blocks) const;

 private:
  struct Stencil {
    std::array<int32_t, 4> v;
    Mat12 rest;
  };
  const SurfaceMap* map_;
  const PairFriction* pairs_;
  ThreadPool* pool_;
  std::vector<const ContactStencil*> active_;
  std::vector<Stencil> stencils_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_FRICTION_REMAINDER_H_
