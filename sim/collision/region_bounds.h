#ifndef EIPC_SIM_COLLISION_REGION_BOUNDS_H_
#define EIPC_SIM_COLLISION_REGION_BOUNDS_H_

// Rounding allowances that the bounds of this folder share; docs/concepts/collision_detection.md, "Rounding", derives their sizes.

#include "sim/geometry/wide_box.h"

namespace eipc {

// Covers the rounding of a norm and of sums of a few.
inline constexpr double kRoundUp = 1 + 1e-14;
// Times the largest coordinate involved: covers the rounding of x = J q, of centroids and of images of boxes.
inline constexpr double kSlack = 1e-14;

inline bool Contains(const Box& box, const Vec3& p) { return (p.array() >= box.lo).all() && (p.array() <= box.hi).all(); }
inline bool Contains(const WideBox& box, const Vec3& p) { return box.Contains(WideBox(p.array(), p.array())); }

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_REGION_BOUNDS_H_
