#ifndef EIPC_SIM_CONTACT_BARRIER_STENCIL_H_
#define EIPC_SIM_CONTACT_BARRIER_STENCIL_H_

#include <array>

#include "sim/base/types.h"
#include "sim/contact/contact_set.h"

namespace eipc {

// The barrier of one stencil (`distance`, `closest` up to date with x), m(c) b(d) per unit stiffness and weight, as a function of
// its four vertices. m = 1 for point-triangle; for edge-edge it is the mollifier of Li et al. 2020, eq. 24, of c = |(a1 - a0) x (b1
// - b0)|^2.
struct StencilPositions {
  std::array<Vec3, 4> x;
};

// A stencil Hessian as F F^T - G G^T. The first `rank` columns are F, the `negative` ones after them G; without G it is positive
// semidefinite.
struct StencilFactor {
  int rank = 0;
  int negative = 0;
  Eigen::Matrix<double, 12, 12> columns;
};
enum class HessianKind { kSemidefinite, kExact };

double BarrierStencilValue(const ContactStencil& stencil, const StencilPositions& x);
Vec12 BarrierStencilGradient(const ContactStencil& stencil, const StencilPositions& x);
// Exact Hessian, not projected.
Mat12 BarrierStencilHessian(const ContactStencil& stencil, const StencilPositions& x);
// Factors of the Hessian, or of a positive semidefinite bound of it, in closed form.
//
// Let e_k = sum_j R_jk t_j with orthonormal t_j (Gram-Schmidt) and [g_1 g_2] = [dw_1 dw_2] R^-1. Then distance.h's Hessian of d is
//     hess d = (w w^T) (x) (I - n n^T - sum_j t_j t_j^T) / d - sum_j (a_j c_j^T + c_j a_j^T + d c_j c_j^T),
//     a_j = t_j (x) w,   c_j = n (x) g_j,
// and with beta = -b' > 0 the barrier's is
//     b'' (n (x) w)(n (x) w)^T - beta / d (...) + beta sum_j (a_j c_j^T + c_j a_j^T + d c_j c_j^T).
// The first part is semidefinite, the second never. One rotation of the t_j makes the g_j orthogonal; the last part is then a sum
// of 2x2 blocks on mutually orthogonal planes, each with one positive eigenvalue. Keeping what is positive of each part gives a
// matrix >= the Hessian (a sum of projections), of rank 1 + k. What is negative, an eigenvector a block and w (x) o for each
// tangent o orthogonal to the t_j, makes it the Hessian itself.
//
// While the mollifier m(c), c = |s|^2, s = u x v, is at work, the Hessian is
//     m (that of b) + m' (grad c grad b^T + grad b grad c^T) + b m'' grad c grad c^T + b m' hess c,
//     hess c = 2 J^T J + H,   J = ds/d(u, v),   dx^T H dx = 4 s . (du x dv),   grad c = 2 |s| j,   j = J^T s / |s|.
// In J the directions across s are semidefinite; j, with n (x) w, spans a plane in which grad c, grad b and b'' are, and two
// eigenvectors are that part; H is 2 |s| times two positive and two negative unit vectors, each twice as long by the vertices.
// Together with the sliding of the closest points, m times that above, this is a bound and the Hessian in the same way.
//
// For a stencil of negative weight: the eigenvectors of minus the Hessian, by a 12-dimensional eigenproblem, all of them or those
// of positive eigenvalues.
StencilFactor BarrierStencilFactor(const ContactStencil& stencil, const StencilPositions& x,
                                   HessianKind kind = HessianKind::kSemidefinite);

// m(c) of the stencil.
double MollifierValue(const ContactStencil& stencil, const StencilPositions& x);
Vec12 MollifierGradient(const ContactStencil& stencil, const StencilPositions& x);

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_BARRIER_STENCIL_H_
