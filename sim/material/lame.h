#ifndef EIPC_SIM_MATERIAL_LAME_H_
#define EIPC_SIM_MATERIAL_LAME_H_

namespace eipc {

// Lame parameters of isotropic linear elasticity, Pa: sigma = 2 mu eps + lambda tr(eps) I.
struct Lame {
  double mu;
  double lambda;

  // From Young's modulus (Pa, > 0) and Poisson's ratio in (-1, 0.5).
  static Lame FromModuli(double youngs_pa, double poissons) {
    return {youngs_pa / (2 * (1 + poissons)), youngs_pa * poissons / ((1 + poissons) * (1 - 2 * poissons))};
  }
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_LAME_H_
