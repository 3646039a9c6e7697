#ifndef EIPC_SIM_ENERGY_HINGE_H_
#define EIPC_SIM_ENERGY_HINGE_H_

#include <array>

#include "sim/base/types.h"
#include "sim/material/lanes.h"

namespace eipc {

// The angles by which pairs of triangles (x0, x1, x2) and (x1, x0, x3) are bent about their common edge from x0 to x1: 0 where they
// are one plane, in (-pi, pi), positive where x2 and x3 bend to the side that the normal of the first points away from. Four pairs
// at a time, one in each lane.
//
// With e = x1 - x0, n_a = e x (x2 - x0), n_b = (x3 - x0) x e: theta = atan2((n_a x n_b) . e/|e|, n_a . n_b). Of each triangle: n
// its unit normal, h its height over the edge, d the unit vector in its plane from the edge to its opposite vertex, f the foot of
// that as a fraction of the edge; over (x0, x1, opposite): p = (f - 1, -f, 1), c = (-1, 1, 0), S(u, v) = u v^T + v u^T. Then
//     grad theta = - sum (p (x) n) / h
//     hess theta = sum S(p (x) d, p (x) n) / h^2 + S(p (x) e/|e|, c (x) n) / (h |e|) + S(c (x) n, c (x) d) / (2 |e|^2).
class HingeAngles {
 public:
  HingeAngles() = default;
  // Positions of x0 to x3, m.
  explicit HingeAngles(const std::array<Vec3s, 4>& x);

  const Quad& values() const { return values_; }
  // By x0 to x3.
  using Gradients = std::array<Vec3s, 4>;
  Gradients FindGradients() const;
  // Blocks (a, b), a >= b, of x0 to x3, row by row: stiffness g g^T, g the gradients, and moment hess theta, each of whose summands
  // m S(u, v), whose u and v are orthogonal, has its negative eigenvalue removed: a bound from above in closed form.
  using Blocks = std::array<Mat3s, 10>;
  void FindBounds(const Quad& stiffness, const Gradients& gradients, const Quad& moment, Blocks* out) const;

 private:
  struct Side {
    Vec3s normal, across;  // n, d
    Quad height, foot;     // h, f
    Vec3s Weights() const { return {foot - 1, -foot, Splat(1)}; }
  };
  // Adds the bounds of the summands of one side; `opposite` is 2 or 3.
  void AddBounds(const Side& side, int opposite, const Quad& moment, Blocks* out) const;

  Quad values_ = {}, lengths_ = {};
  Vec3s along_ = {};  // e / |e|
  std::array<Side, 2> sides_ = {};
};

// One such angle.
double HingeAngle(const std::array<Vec3, 4>& x);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_HINGE_H_
