#ifndef EIPC_SIM_ENERGY_BARRIER_H_
#define EIPC_SIM_ENERGY_BARRIER_H_

#include "sim/base/parallel.h"
#include "sim/contact/contact_set.h"
#include "sim/energy/barrier_stencil.h"
#include "sim/energy/surface_map.h"
#include "sim/energy/term.h"

namespace eipc {

// sum_k w_k m_k b(d_k) over the active stencils: contact energy in units of the stiffness, J / (N/m).
double BarrierPotential(const ContactSet& contacts, const std::vector<Vec3>& x);

// B = stiffness * sum_k w_k m_k b(d_k) over the active stencils of `contacts`, which must be up to date with the point
// (Du et al. 2025, III-B; theory.md, eq. 12).
class BarrierTerm : public EnergyTerm {
 public:
  BarrierTerm(const SurfaceMap* map, const ContactSet* contacts, ThreadPool* pool) : map_(map), contacts_(contacts), pool_(pool) {}

  void set_stiffness(double stiffness) { stiffness_ = stiffness; }

  void BeginStage(const StageContext&) override {}
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;

 private:
  const SurfaceMap* map_;
  const ContactSet* contacts_;
  ThreadPool* pool_;
  double stiffness_ = 0;
  std::vector<StencilFactor> factors_;
};

inline StencilPositions Gather(const std::array<int32_t, 4>& v, const std::vector<Vec3>& x) {
  return {{x[v[0]], x[v[1]], x[v[2]], x[v[3]]}};
}

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_BARRIER_H_
