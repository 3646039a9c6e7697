#ifndef EIPC_SIM_MATERIAL_MEMBRANE_H_
#define EIPC_SIM_MATERIAL_MEMBRANE_H_

#include "sim/base/types.h"

namespace eipc {

using Mat2 = Eigen::Matrix2d;
using Mat32 = Eigen::Matrix<double, 3, 2>;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;

// Membrane of a thin sheet in plane stress, per area at rest, as a function of the 3x2 deformation gradient F of its mid-surface
// with principal stretches s1 >= s2 and J = s1 s2 (docs/concepts/theory.md, eq. 30):
//     psi = mu/2 (|F|^2 - 2) - mu ln J + lambda/2 (ln J)^2 + sum_i l(s_i),   J/m^2,
// with mu, lambda in N/m. l is the strain limit of Li et al. 2021 ("Codimensional Incremental Potential Contact", eq. 19), 0 up to
// s = 1 and infinite from the limit L on: l(s) = -k (s - 1)^2 ln((L - s) / (L - 1)) / (L - 1)^2.
//
// psi is infinite for J = 0. A 3x2 F has no sign of its determinant; what keeps a triangle from being turned over in its own plane
// is the step limit of the term (sim/energy/membrane.h).
struct Membrane {
  double mu = 0;               // N/m
  double lambda = 0;           // N/m, plane stress: E t nu / (1 - nu^2)
  double strain_limit = 0;     // L; 0: none
  double limit_stiffness = 0;  // k, N/m

  // The strain limit l of one stretch, J/m^2, with two derivatives.
  struct Limit {
    double value = 0, first = 0, second = 0;
  };
  Limit LimitAt(double s) const;

  // J/m^2; infinity where F is singular or beyond the strain limit.
  double Psi(const Mat32& f) const;
  // dpsi/dF, N/m.
  Mat32 Stress(const Mat32& f) const;
  // d vec(stress) / d vec(F), column-major, N/m. `project`: with negative eigenvalues set to zero.
  Mat6 Hessian(const Mat32& f, bool project) const;
};

struct PrincipalStretches {
  Vec2 s;   // the larger first
  Mat2 v;   // columns: directions at rest
  Mat32 u;  // columns: directions now, unit; zero where s is 0
};
// F = u diag(s) v^T.
PrincipalStretches Stretches(const Mat32& f);

// Forces per length at present in the principal directions (Cauchy), N/m.
Vec2 PrincipalTensions(const Membrane& membrane, const Vec2& s);

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_MEMBRANE_H_
