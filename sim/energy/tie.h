#ifndef EIPC_SIM_ENERGY_TIE_H_
#define EIPC_SIM_ENERGY_TIE_H_

#include <utility>
#include <vector>

#include "sim/energy/linear_vector.h"
#include "sim/energy/term.h"

namespace eipc {

// Draws a gap to zero: the distance of a point of one body from a point of another, as a rule.
struct Tie {
  LinearVector gap;
  double stiffness = 0;  // N/m
};

// The ties of a joint: E(q) = 1/2 sum_i k_i |g_i(q)|^2 (docs/concepts/theory.md, eq. 24). The gaps are linear in q, so the energy
// is quadratic. Where the weights of a gap sum to zero on either side, its forces are equal and opposite; their moments are too,
// since they act along the gap.
class TieTerm : public EnergyTerm {
 public:
  // `ties` outlives this.
  explicit TieTerm(const std::vector<Tie>* ties) : ties_(ties) {}

  void BeginStage(const StageContext&) override {}
  double Value(const Point& point) override;
  double Rounding(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  bool constant_hessian() const override { return true; }
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  // What the ties exert on nodes at q.
  void AppendForces(const VecX& q, std::vector<NodeForce>* forces) const;

 private:
  const std::vector<Tie>* ties_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_TIE_H_
