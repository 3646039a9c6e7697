#include "sim/mesh/condensed_stiffness.h"

namespace eipc {

Mat6 IsotropicStiffness(double bulk_modulus_pa, double shear_modulus_pa) {
  Mat6 c = 2 * shear_modulus_pa * Mat6::Identity();
  c.topLeftCorner<3, 3>().array() += bulk_modulus_pa - 2 * shear_modulus_pa / 3;
  return c;
}

Eigen::MatrixXd SmallStrainStiffness(const CondensedStiffness& condensed) {
  const auto n = static_cast<Eigen::Index>(condensed.vertices()), stride = static_cast<Eigen::Index>(condensed.stride());
  Eigen::MatrixXd by_coordinate = Eigen::MatrixXd::Zero(3 * stride, 3 * n);
  for (const CondensedStiffness::Cluster& c : condensed.clusters) {
    by_coordinate += Eigen::Map<const Eigen::MatrixXd>(c.stiffness.data(), 3 * stride, 3 * n);
  }
  Eigen::MatrixXd out(3 * n, 3 * n);
  for (Eigen::Index k = 0; k < n; ++k) {
    for (Eigen::Index l = 0; l < n; ++l) {
      for (Eigen::Index i = 0; i < 3; ++i) {
        for (Eigen::Index j = 0; j < 3; ++j) out(3 * k + i, 3 * l + j) = by_coordinate(i * stride + k, j * n + l);
      }
    }
  }
  return out;
}

}  // namespace eipc
