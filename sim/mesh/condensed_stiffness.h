#ifndef EIPC_SIM_MESH_CONDENSED_STIFFNESS_H_
#define EIPC_SIM_MESH_CONDENSED_STIFFNESS_H_

#include <Eigen/Core>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// The stiffness of an object's fine model, condensed onto the n vertices of its cage and split over clusters of the fine model's
// tetrahedra, which turn with the object (sim/meshing/condense.h makes it, sim/energy/condensed.h evaluates it).
//
// Rows are ordered by coordinate: row i * stride + k belongs to coordinate i of vertex k; stride is n rounded up to a multiple of
// four, and the rows between are zero.
struct CondensedStiffness {
  // K_c = remainder + volume * strain^T C strain, C the stiffness of the isotropic material: the part of the mean strain of the
  // cluster, to which the material's own law belongs, and the part of what varies within it.
  struct Cluster {
    std::vector<double>
        remainder;               // symmetric, positive semidefinite, N/m; 3 * stride rows, 3 * n columns (j * n + l), column-major
    std::vector<double> strain;  // six rows of 3 * stride, 1/m: of e_xx, e_yy, e_zz, sqrt(2) e_xy, sqrt(2) e_yz, sqrt(2) e_zx
    std::vector<Vec3> gradient;  // of each vertex's shape function, mean over the cluster's solid, 1/m
    double volume = 0;           // of the cluster's solid, m^3
  };

  std::vector<Vec3> rest;  // of the vertices, m, mean 0, in the frame of the authored mesh
  std::vector<Cluster> clusters;
  double bulk_modulus_pa = 0;  // of the material
  double shear_modulus_pa = 0;

  size_t vertices() const { return rest.size(); }
  size_t stride() const { return (rest.size() + 3) / 4 * 4; }
};

using Mat6 = Eigen::Matrix<double, 6, 6>;

// C of isotropic linear elasticity, Pa, for strains as in Cluster::strain.
Mat6 IsotropicStiffness(double bulk_modulus_pa, double shear_modulus_pa);

// K* = sum_c K_c, N/m, ordered by vertex (3 k + i).
Eigen::MatrixXd SmallStrainStiffness(const CondensedStiffness& condensed);

}  // namespace eipc

#endif  // EIPC_SIM_MESH_CONDENSED_STIFFNESS_H_
