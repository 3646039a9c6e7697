#ifndef EIPC_SIM_ENERGY_SHELL_BODY_H_
#define EIPC_SIM_ENERGY_SHELL_BODY_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/material/membrane.h"

namespace eipc {

enum class BendingForm { kPlate, kHinge };

// An edge between two triangles, as hinge.h has it: nodes {x0, x1, x2, x3}.
struct Hinge {
  std::array<int32_t, 4> nodes;
  double rest_angle = 0;  // rad
  double stiffness = 0;   // N m/rad: the energy is 1/2 stiffness (angle - rest_angle)^2
};

// What the angles of two edges of one triangle do together: stiffness * (a_i - a0_i) (a_j - a0_j), N m.
struct HingeCoupling {
  int32_t i, j;  // in ShellBody::hinges
  double stiffness;
};

// Triangles of one sheet, J = I (docs/concepts/theory.md, section "Shells").
struct ShellBody {
  int32_t body = 0;
  std::vector<Triangle> triangles;  // global node indices
  std::vector<Mat2> inverse_rest;   // inverse of [X1-X0, X2-X0] in a frame of the triangle's plane, 1/m
  std::vector<double> area;         // at rest, m^2
  Membrane membrane;
  double bending_stiffness = 0;  // D, N m
  double poissons_ratio = 0;     // of bending
  BendingForm bending_form = BendingForm::kPlate;
  std::vector<Hinge> hinges;
  std::vector<HingeCoupling> couplings;
  double rayleigh_alpha_per_s = 0;
  double rayleigh_beta_s = 0;
};

// Sets hinges and couplings of `shell` for triangles at rest at `rest` (by node, offset by `first_node`; m):
//   PLATE: per triangle 1/2 sum_ij C_ij da_i da_j over its inner edges, C_ij = D |e_i| |e_j| / (4 A) [(1 - nu) (e_i . e_j)^2 + nu]
//   with unit e in brackets: the energy 1/2 D A ((1 - nu) |K|^2 + nu (tr K)^2) of the curvature K = sum_i da_i |e_i| / (2 A) m_i
//   m_i^T, m_i the normal of edge i in the plane of the triangle (Morley's; Grinspun et al. 2006, "Computing discrete shape
//   operators on general meshes"); HINGE: 1/2 sum_e D |e|^2 / (A_a + A_b) da_e^2 (Grinspun et al. 2003, "Discrete shells", with D =
//   3 k).
// `held`: of nodes, those that are driven. A triangle of such nodes does not bend, so the whole angle at its edges belongs to the
// triangle beyond: its |e| counts twice, or the area of HINGE is that triangle's alone. `flat`: rest angles are 0.
void SetBending(const std::vector<Vec3>& rest, int32_t first_node, const std::vector<uint8_t>& held, bool flat, ShellBody* shell);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_SHELL_BODY_H_
