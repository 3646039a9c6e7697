#include "sim/scene/shell_spec.h"

namespace eipc {
namespace {

// Tensile tests of plain woven fabrics, averaged over their directions; shares and strain limits as in the public scenes of
// Codim-IPC.
constexpr absl::string_view kPenava =
    "Penava et al. 2014, Determination of the elastic constants of plain woven fabrics; constants of Codim-IPC (Li et al. 2021)";
constexpr absl::string_view kPaper = "constants of Codim-IPC (Li et al. 2021)";

constexpr Fabric kFabrics[] = {
    {"cotton", "100 % cotton", kPenava, 472.641509, 0.318e-3, 0.821e6, 0.1, 0.243, 1.0608},
    {"wool", "100 % wool", kPenava, 413.380282, 0.568e-3, 0.170e6, 0.2, 0.277, 1.085},
    {"wool_lycra", "95 % wool, 5 % lycra", kPenava, 543.292683, 0.328e-3, 0.076e6, 1, 0.071, 1.134},
    {"polyester", "100 % polyester", kPenava, 653.174603, 0.252e-3, 0.478e6, 0.1, 0.381, 1.0646},
    {"paper", "paper", kPaper, 800, 0.3e-3, 3e9, 1, 0.3, 1.005},
};

double Or(double given, double otherwise) { return given != 0 ? given : otherwise; }

// E t of plane stress.
double YoungsOf(double mu, double lambda) { return 4 * mu * (lambda + mu) / (lambda + 2 * mu); }

}  // namespace

absl::Span<const Fabric> Fabrics() { return kFabrics; }

const Fabric* FindFabric(absl::string_view name) {
  for (const Fabric& fabric : kFabrics) {
    if (fabric.name == name) return &fabric;
  }
  return nullptr;
}

ShellConstants ConstantsOf(const ShellSpec& shell, const MaterialSpec& material) {
  static constexpr Fabric kNone = {"", "", "", 0, 0, 0, 1, 0, 0};
  const Fabric* found = shell.fabric.empty() ? nullptr : FindFabric(shell.fabric);
  const Fabric& fabric = found == nullptr ? kNone : *found;
  ShellConstants c;
  c.thickness_m = Or(shell.thickness_m, fabric.thickness_m);
  c.contact_thickness_m = shell.contact_thickness_m.value_or(c.thickness_m);
  c.mass_per_area_kg_m2 = Or(shell.mass_per_area_kg_m2, Or(material.density_kg_m3, fabric.density_kg_m3) * c.thickness_m);
  const double nu = Or(material.poissons_ratio, fabric.poissons_ratio);
  const double youngs = Or(material.youngs_modulus_pa, fabric.youngs_modulus_pa);
  const double share = material.youngs_modulus_pa != 0 ? 1 : fabric.membrane_share;
  c.poissons_ratio = nu;
  const double youngs_n_m = Or(shell.membrane_youngs_n_m, share * youngs * c.thickness_m);
  if (shell.membrane_mu_n_m && shell.membrane_lambda_n_m) {
    c.membrane.mu = *shell.membrane_mu_n_m;
    c.membrane.lambda = *shell.membrane_lambda_n_m;
    c.youngs_n_m = YoungsOf(c.membrane.mu, c.membrane.lambda);
    if (material.poissons_ratio == 0) c.poissons_ratio = c.membrane.lambda / (c.membrane.lambda + 2 * c.membrane.mu);
  } else {
    c.youngs_n_m = youngs_n_m;
    c.membrane.mu = youngs_n_m / (2 * (1 + nu));
    c.membrane.lambda = youngs_n_m * nu / (1 - nu * nu);
  }
  const double t = c.thickness_m;
  c.bending_stiffness_nm = shell.bending_stiffness_nm.value_or(youngs * t * t * t / (12 * (1 - nu * nu)));
  c.membrane.strain_limit = Or(shell.strain_limit, fabric.strain_limit);
  c.membrane.limit_stiffness = Or(shell.strain_limit_stiffness_n_m, YoungsOf(c.membrane.mu, c.membrane.lambda));
  return c;
}

}  // namespace eipc
