#ifndef EIPC_TESTS_SIM_ENERGY_TERM_BATTERY_H_
#define EIPC_TESTS_SIM_ENERGY_TERM_BATTERY_H_

// What every EnergyTerm must pass, seen as a function of node positions alone.

#include <functional>
#include <vector>

#include "sim/energy/surface_map.h"
#include "sim/energy/term.h"
#include "tests/support/finite_difference.h"

namespace eipc::testing {

// A term with its inputs: node positions q, surface positions x = J q, and contacts that follow x.
struct TermUnderTest {
  EnergyTerm* term = nullptr;
  int nodes = 0;
  const SurfaceMap* map = nullptr;                              // null: the term has no surface
  std::function<void(const std::vector<Vec3>& x)> follow = {};  // may be empty

  double Value(const VecX& q) const;
  VecX Gradient(const VecX& q) const;
  // AddHessian, assembled dense; the pattern grows by whatever was missing.
  MatX Hessian(const VecX& q) const;
  // Differences of Value, and of Gradient.
  VecX GradientByDifference(const VecX& q, double h) const;
  MatX HessianByDifference(const VecX& q, double h) const;

 private:
  std::vector<Vec3> Positions(const VecX& q) const;
};

MatX ToDense(const BlockMatrix& h);
// Sum over nodes of the gradient, and of its moment q x g about the origin.
Vec3 TotalForce(const VecX& gradient);
Vec3 TotalMoment(const VecX& q, const VecX& gradient);

// The stacked positions turned and shifted.
VecX Moved(const VecX& q, const Pose& by);

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_ENERGY_TERM_BATTERY_H_
