#ifndef EIPC_MODELS_SHAPES_H_
#define EIPC_MODELS_SHAPES_H_

// Smooth solids as implicit functions, negative inside (roughly metres near the surface). Only +, -, *, / and sqrt, which IEEE
// rounds exactly: every machine generates the same bits.

#include <vector>

#include "sim/base/types.h"

namespace eipc {

struct Ellipsoid {
  Vec3 center;
  Vec3 radii;
};

// First-order distance to an ellipsoid.
double EllipsoidValue(const Ellipsoid& e, const Vec3& p);

// A sitting teddy bear: body, head, snout, ears, arms and legs, blended where they meet. World axes: z up, facing +x, sitting on
// z = 0; about 0.155 m tall, 0.105 m wide (y), 0.12 m deep (x).
double TeddyValue(const Vec3& p);

// An inflated gripper pad: half an ellipsoid behind a flat back. The back is in the plane z = 0, about 0.114 x 0.081 m in x and y;
// the cap bulges to z = -0.037 m.
double BubbleValue(const Vec3& p);

}  // namespace eipc

#endif  // EIPC_MODELS_SHAPES_H_
