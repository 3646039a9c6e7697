#ifndef EIPC_SIM_MATERIAL_LANE_MODES_H_
#define EIPC_SIM_MATERIAL_LANE_MODES_H_

// Isotropic materials of four elements at a time. Such a material has, besides what material.h asks for,
//
//   LaneResponse Respond(const LaneDeformation& d) const   energy density and stress
//   LaneModes Modes(const Vec3s& sigma) const              second derivatives by the stretches

#include "sim/material/lanes.h"

namespace eipc {

// A deformation gradient and what its stress and energy are made of.
struct LaneDeformation {
  Mat3s f;
  Mat3s cofactor;
  // As StrainInvariants (strain_invariants.h) has them, with the same care near rest.
  Quad trace, second, det, volume, trace_minus_volume;

  static LaneDeformation Of(const Mat3s& f);
};

struct LaneResponse {
  Quad psi;  // J/m^3
  Mat3s p;   // first Piola-Kirchhoff stress, Pa
};

// StretchHessian (isotropic_projection.h): its block by diagonal and, for pair k, by the entry that couples the other two axes.
struct LaneModes {
  Vec3s stretch;
  Vec3s coupling;
  Vec3s twist;
  Vec3s flip;
};

// InvariantDerivatives of isotropic_projection.h.
struct LaneDerivatives {
  Quad d1 = {};
  Quad d2 = {};
  Quad dj = {};
  Quad d11 = {};
  Quad djj = {};
};

LaneModes ModesFromInvariants(const Vec3s& sigma, const LaneDerivatives& f);

// Negative eigenvalues set to zero: pairs in closed form, the block by an eigenvalue decomposition where it is not positive
// definite.
void Project(LaneModes* modes);

// The modes' Hessian, in the frames u and v of a decomposition u diag(sigma) v^T, times dF.
Mat3s Apply(const LaneModes& modes, const Mat3s& u, const Mat3s& v, const Mat3s& dF);

// Adds V B^T H B, H the modes' Hessian and B the map from the nodes of a tetrahedron to F, to the blocks of the pairs (a >= b) of
// nodes 1 to 3: 11, 21, 22, 31, 32, 33. `gradient` holds the shape functions' of these nodes.
void AddPullBack(const LaneModes& modes, const Mat3s& u, const Mat3s& v, const Mat3s& gradient, const Quad& volume,
                 std::array<Mat3s, 6>* blocks);

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_LANE_MODES_H_
