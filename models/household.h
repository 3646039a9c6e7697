#ifndef EIPC_MODELS_HOUSEHOLD_H_
#define EIPC_MODELS_HOUSEHOLD_H_

// Things of 7 to 12 cm as one finds them in a bin, implicit functions as in shapes.h.

#include <array>

#include "sim/base/types.h"

namespace eipc {

struct HouseholdObject {
  const char* name;
  double (*value)(const Vec3&);
  Vec3 inside;          // a point of the solid
  double radius_m;      // of a ball around it that holds the solid
  double facet_size_m;  // for about 2,000 triangles
};

// A mug with a handle, a bowl, a bottle, a carton with rounded edges, a banana, a ball, a hammer, a jack of three crossed bars.
const std::array<HouseholdObject, 8>& HouseholdObjects();

}  // namespace eipc

#endif  // EIPC_MODELS_HOUSEHOLD_H_
