#ifndef EIPC_SIM_ENERGY_HINGE_H_
#define EIPC_SIM_ENERGY_HINGE_H_

#include <array>

#include "sim/base/types.h"

namespace eipc {

// The angle by which two triangles (x0, x1, x2) and (x1, x0, x3) are bent about their common edge from x0 to x1: 0 where they are
// one plane, in (-pi, pi), positive where x2 and x3 bend to the side that the normal of the first points away from.
//
// With e = x1 - x0, n_a = e x (x2 - x0), n_b = (x3 - x0) x e: theta = atan2((n_a x n_b) . e/|e|, n_a . n_b). Of each triangle: n
// its unit normal, h its height over the edge, d the unit vector in its plane from the edge to its opposite vertex, f the foot of
// that as a fraction of the edge; over (x0, x1, opposite): p = (f - 1, -f, 1), c = (-1, 1, 0), S(u, v) = u v^T + v u^T. Then
//     grad theta = - sum (p (x) n) / h
//     hess theta = sum S(p (x) d, p (x) n) / h^2 + S(p (x) e/|e|, c (x) n) / (h |e|) + S(c (x) n, c (x) d) / (2 |e|^2).
class HingeAngle {
 public:
  HingeAngle() = default;
  explicit HingeAngle(const std::array<Vec3, 4>& x);

  double value() const { return value_; }
  Vec12 Gradient() const;
  // Adds moment * hess theta. `project`: each of its summands m S(u, v), whose u and v are orthogonal, with its negative eigenvalue
  // removed: a bound from above in closed form.
  void AddHessian(double moment, bool project, Mat12* out) const;

 private:
  struct Side {
    Vec3 normal, across;  // n, d
    double height, foot;  // h, f
    int opposite;         // 2 or 3
    Vec3 Weights() const { return {foot - 1, -foot, 1}; }
  };
  // Adds the bound that AddHessian describes, of the summands of this side.
  void AddBound(const Side& side, double moment, Mat12* out) const;
  // w over (x0, x1, opposite), times v.
  static Vec12 Spread(const Side& side, const Vec3& w, const Vec3& v);

  double value_ = 0, length_ = 0;
  Vec3 along_;  // e / |e|
  std::array<Side, 2> sides_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_HINGE_H_
