#ifndef EIPC_SIM_MATERIAL_MATERIAL_H_
#define EIPC_SIM_MATERIAL_MATERIAL_H_

// Hyperelastic materials as value types. Every material M provides, for a deformation gradient F (column-major vec where flattened)
// and the lagged rotation R0 (the polar factor of the start-of-step deformation gradient; only linear corotated uses it):
//
//   double Psi(F, R0)               energy density, J/m^3, zero at F = R0 = I
//   Mat3   P(F, R0)                 first Piola-Kirchhoff stress, dPsi/dF, Pa
//   Mat9   Hessian(F, R0)           d vec(P) / d vec(F), exact
//   Mat9   ProjectedHessian(F, R0)  the same with its negative eigenvalues set to zero, from an analytic eigensystem
//   static constexpr bool kConstantHessian   Hessian does not depend on F within a step
//   static constexpr bool kForbidsInversion  Psi = +infinity for det F <= 0; the solver must limit its steps
//
// One file per material; `docs/concepts/architecture.md` says where to register a new one.

#include <variant>

#include "sim/material/abd_orthogonality.h"
#include "sim/material/fixed_corotated.h"
#include "sim/material/linear_corotated.h"
#include "sim/material/log_barrier_neo_hookean.h"
#include "sim/material/mooney_rivlin.h"
#include "sim/material/st_venant_kirchhoff.h"
#include "sim/material/stable_neo_hookean.h"

namespace eipc {

using Material = std::variant<LinearCorotated, FixedCorotated, StableNeoHookean, LogBarrierNeoHookean, StVenantKirchhoff,
                              MooneyRivlin, AbdOrthogonality>;

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_MATERIAL_H_
