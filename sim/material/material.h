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
//   static const MaterialDescriptor kDescriptor   name, energy and parameters; scene checks, conversion and documentation follow
//
// One file per material, which becomes known by its place in the variant below (docs/concepts/architecture.md); the message has an
// enumerator of its name.

#include <variant>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/base/parameter.h"
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

using MaterialModel = const MaterialDescriptor*;

// Of a deformable body whose author names none.
inline constexpr MaterialModel kDefaultMaterial = &StableNeoHookean::kDescriptor;

// The force of `strain_damping_s`: linear in the rate of strain, or from the strain energy of what a step changes
// (sim/energy/strain_damping.h and strain_energy_damping.h).
enum class StrainDampingLaw { kRateOfStrain, kStrainEnergy };

// What an author says of the material of a body.
struct MaterialSpec {
  MaterialModel model = kDefaultMaterial;
  double density_kg_m3 = 0;
  double youngs_modulus_pa = 0;
  double poissons_ratio = 0;
  double rayleigh_alpha_per_s = 0;
  double rayleigh_beta_s = 0;
  double strain_damping_s = 0;
  StrainDampingLaw strain_damping_law = StrainDampingLaw::kRateOfStrain;
  double mooney_second_share = 0;
};

using MaterialParameter = Parameter<MaterialSpec>;

struct MaterialDescriptor {
  absl::string_view name;    // of its enumerator in the scene message
  absl::string_view energy;  // the density, for the documentation
  // Of the energy; others are not read. Density and damping are parameters of every material.
  absl::Span<const MaterialParameter> parameters;
  Material (*make)(const MaterialSpec& spec);  // of parameters within their bounds
};

inline constexpr MaterialParameter kYoungsModulus = {"youngs_modulus_pa", "Pa", "Young's modulus", &MaterialSpec::youngs_modulus_pa,
                                                     Bounds::Positive()};
inline constexpr MaterialParameter kPoissonsRatio = {"poissons_ratio", "", "Poisson's ratio", &MaterialSpec::poissons_ratio,
                                                     Bounds::Between(-1, 0.5)};
// Those of isotropic linear elasticity.
inline constexpr MaterialParameter kElasticModuli[] = {kYoungsModulus, kPoissonsRatio};

// In the order of the variant.
absl::Span<const MaterialModel> Materials();
// nullptr: none has this name.
MaterialModel FindMaterial(absl::string_view name);
// Density and Rayleigh damping D = alpha M + beta K.
absl::Span<const MaterialParameter> CommonMaterialParameters();

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_MATERIAL_H_
