#ifndef EIPC_SIM_SCENE_SELECTION_BOX_H_
#define EIPC_SIM_SCENE_SELECTION_BOX_H_

#include "sim/base/types.h"

namespace eipc {

// Selects what lies in it; axis-aligned, in the authored mesh frame after scaling.
struct SelectionBox {
  Vec3 min, max;
  bool Contains(const Vec3& p) const { return (p.array() >= min.array()).all() && (p.array() <= max.array()).all(); }
};

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_SELECTION_BOX_H_
