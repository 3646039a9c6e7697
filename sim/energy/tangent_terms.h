#ifndef EIPC_SIM_ENERGY_TANGENT_TERMS_H_
#define EIPC_SIM_ENERGY_TANGENT_TERMS_H_

#include <array>

#include "sim/energy/symmetric_law.h"
#include "sim/mesh/condensed_stiffness.h"

namespace eipc {

// What the tangent C_s = d2 Psi / d e^2 of an isotropic material has beyond C, that of small strain, along the eigenvectors of
// C^-1/2 (C_s - C) C^-1/2:
//
//   C_s - C = sum_r sign_r d_r d_r^T.
//
// Where C_s is positive semidefinite, so is C with any number of these terms.
class TangentTerms {
 public:
  struct Term {
    bool stiffer = false;  // the sign
    Vec6 direction;        // d, Pa^1/2
  };
  struct Terms {
    int count = 0;
    std::array<Term, 6> of;
  };

  // Of C.
  TangentTerms(double bulk_modulus_pa, double shear_modulus_pa);

  // What of them has eigenvalues below `least` is left out, where one reaches it what has less than this share of that.
  static constexpr double kBeside = 1.0 / 3;

  // Of four strains, and of C_s exact or positive semidefinite.
  std::array<Terms, 4> At(const Material& material, const Vec6s& e, bool exact, double least) const;

 private:
  // C_s where I + e has the principal axes `axes`: by diagonal and by flips (StretchHessian).
  struct Principal {
    Mat3 axes, stretch;
    Vec3 flip;
  };
  Terms Along(const Principal& tangent, double least) const;
  Terms OfAny(const Mat6& tangent, double least) const;

  const double shear_;
  const Mat3 root_, root_inverse_;  // C^1/2 of the principal strains and its inverse
  const Mat6 law_, law_root_, law_root_inverse_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_TANGENT_TERMS_H_
