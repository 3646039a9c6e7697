#ifndef EIPC_SIM_MESHING_AFFINE_SUGGESTION_H_
#define EIPC_SIM_MESHING_AFFINE_SUGGESTION_H_

#include <string>

#include "sim/base/types.h"

namespace eipc {

// Whether a body is better simulated as affine: a firm grasp would strain it too little to see.
struct AffineSuggestion {
  bool affine = false;
  double strain = 0;   // expected of the grasp
  std::string reason;  // in numbers
};
// `extent`: of the object's bounding box, m.
AffineSuggestion SuggestAffine(const Vec3& extent, double youngs_modulus_pa);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_AFFINE_SUGGESTION_H_
