#ifndef EIPC_SIM_MATERIAL_MEMBRANE_LANES_H_
#define EIPC_SIM_MATERIAL_MEMBRANE_LANES_H_

#include <array>

#include "sim/material/lanes.h"
#include "sim/material/membrane.h"

namespace eipc {

using Mat32s = std::array<Vec3s, 2>;  // by columns

inline Quad Inner(const Mat32s& a, const Mat32s& b) { return Dot(a[0], b[0]) + Dot(a[1], b[1]); }

// Second derivatives d vec(stress) / d vec(F) = sum_k values_k vec(E_k) vec(E_k)^T with unit, mutually orthogonal matrices E_k.
struct MembraneModes {
  std::array<Quad, 6> values;  // N/m
  std::array<Mat32s, 6> matrices;

  void RemoveNegative();
};

// Membranes (membrane.h) at four deformation gradients at a time.
class MembraneLanes {
 public:
  MembraneLanes() = default;
  MembraneLanes(const Membrane& membrane, const Mat32s& f);

  // J/m^2; infinity where F is singular or beyond the strain limit.
  const Quad& Psi() const { return psi_; }
  // dpsi/dF, N/m.
  Mat32s Stress() const;
  // In closed form: psi depends on the principal stretches alone, so the eigenvectors are known.
  void FindModes(const Membrane& membrane, MembraneModes* out) const;

 private:
  Mat32s Outer(int image, int direction) const;  // u v^T

  Quad psi_ = {}, log_j_ = {};
  std::array<Quad, 2> s_ = {};                         // principal stretches
  std::array<std::array<Quad, 2>, 2> v_ = {};          // directions at rest
  std::array<Vec3s, 2> u_ = {};                        // directions now
  std::array<Quad, 2> first_ = {}, limit_first_ = {};  // derivatives of psi, and of the strain limit alone, by the stretches
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_MEMBRANE_LANES_H_
