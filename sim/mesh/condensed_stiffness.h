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
  // Its parts have a law of their own (the material's), of their mean strains: with the volumes V_s and the strains E_s of the
  // parts, K_c - sum_s V_s E_s^T C E_s is positive semidefinite, C the stiffness of the isotropic material.
  struct Cluster {
    std::vector<double> stiffness;  // K_c: symmetric, N/m; 3 * stride rows, 3 * n columns (j * n + l), column-major
    std::vector<double> strain;  // of each part six rows of 3 * stride, 1/m: of e_xx, e_yy, e_zz, sqrt(2) e_xy, e_yz and e_zx alike
    std::vector<double> volume;  // of each part's solid, m^3
    std::vector<Vec3> gradient;  // of each vertex's shape function, mean over the cluster's solid, 1/m
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
