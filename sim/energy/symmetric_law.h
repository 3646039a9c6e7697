#ifndef EIPC_SIM_ENERGY_SYMMETRIC_LAW_H_
#define EIPC_SIM_ENERGY_SYMMETRIC_LAW_H_

#include <Eigen/Core>
#include <array>

#include "sim/base/types.h"
#include "sim/material/lanes.h"
#include "sim/material/material.h"
#include "sim/mesh/condensed_stiffness.h"

// A material's law of a symmetric deformation I + e. The six numbers of e are e_xx, e_yy, e_zz, sqrt(2) e_xy, sqrt(2) e_yz,
// sqrt(2) e_zx, so that products of them are those of the matrices.
namespace eipc {

using Vec6 = Eigen::Matrix<double, 6, 1>;

Mat3 SymmetricFrom(const Vec6& e);
double DensityOf(const Material& material, const Mat3& f);            // Psi, J/m^3
Vec6 StressOf(const Material& material, const Mat3& f);               // d Psi / d e, Pa
Mat6 TangentOf(const Material& material, const Mat3& f, bool exact);  // d2 Psi / d e^2, exact or positive semidefinite, Pa

// Four at a time.
using Vec6s = std::array<Quad, 6>;
struct SymmetricResponse {
  Quad psi;      // J/m^3
  Vec6s stress;  // Pa
};
Mat3s DeformationFrom(const Vec6s& e);  // I + e
SymmetricResponse ResponseTo(const Material& material, const Vec6s& e);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_SYMMETRIC_LAW_H_
