#ifndef EIPC_SIM_SCENE_CHECK_NUMBERS_H_
#define EIPC_SIM_SCENE_CHECK_NUMBERS_H_

#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// Whether the numbers of materials, sizes, places, forces and contact are of magnitudes with which one can calculate
// (sim/base/number_range.h); else problems say of which field, what it is and what it may be. Numbers that are not finite, or have
// the wrong sign, are CheckScene's.
bool CheckNumbers(const SceneSpec& spec, Problems* problems);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_CHECK_NUMBERS_H_
