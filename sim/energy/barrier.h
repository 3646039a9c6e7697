#ifndef EIPC_SIM_ENERGY_BARRIER_H_
#define EIPC_SIM_ENERGY_BARRIER_H_

#include "sim/base/parallel.h"
#include "sim/contact/contact_potential.h"
#include "sim/energy/surface_map.h"
#include "sim/energy/term.h"

namespace eipc {

// The contact potential over the active stencils of `contacts`, which must be up to date with the point, as a function of q.
class BarrierTerm : public EnergyTerm {
 public:
  BarrierTerm(const SurfaceMap* map, const ContactSet* contacts, ThreadPool* pool) : map_(map), contacts_(contacts), pool_(pool) {}

  void set_stiffness(double stiffness) { potential_ = ContactPotential(stiffness); }
  const ContactPotential& potential() const { return potential_; }

  // Hessians are bounded from above, stencil by stencil, by positive semidefinite ones, or exact: then their sum with those of
  // other terms need not be positive definite. The former from the start of each stage on.
  bool exact() const { return exact_; }
  void set_exact(bool exact) { exact_ = exact; }

  void BeginStage(const StageContext&) override { exact_ = false; }
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;

  // NewtonProblem::AddCurvature, for a path from the point along dq to `end`.
  bool AddCurvature(const Point& point, const VecX& dq, const VecX& end, VecX* gradient) const;

 private:
  const SurfaceMap* map_;
  const ContactSet* contacts_;
  ThreadPool* pool_;
  ContactPotential potential_;
  bool exact_ = false;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_BARRIER_H_
