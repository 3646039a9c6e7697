#include "sim/meshing/affine_suggestion.h"

#include <cmath>

#include "absl/strings/str_format.h"

namespace eipc {
namespace {

// A firm grasp: this force on a patch of this share of the object's middle extent, squared. Strains below kSmallStrain then do not
// show: d-hat is 1e-3 m, and 1e-3 of a 0.1 m object is a tenth of it.
constexpr double kGraspForce = 20;
constexpr double kPatchShare = 0.3;
constexpr double kSmallStrain = 1e-3;

}  // namespace

AffineSuggestion SuggestAffine(const Vec3& extent, double youngs_modulus_pa) {
  const double middle = extent.sum() - extent.maxCoeff() - extent.minCoeff();
  const double pressure = kGraspForce / std::pow(kPatchShare * middle, 2);
  AffineSuggestion out;
  out.strain = pressure / youngs_modulus_pa;
  out.affine = out.strain < kSmallStrain;
  out.reason = absl::StrFormat("%g N on a patch of (%.2g m)^2 strains E = %.3g Pa by %.2g, %s %g: %s", kGraspForce,
                               kPatchShare * middle, youngs_modulus_pa, out.strain, out.affine ? "below" : "above", kSmallStrain,
                               out.affine ? "simulate it as an affine body" : "simulate it as an embedded body");
  return out;
}

}  // namespace eipc
