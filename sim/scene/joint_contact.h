#ifndef EIPC_SIM_SCENE_JOINT_CONTACT_H_
#define EIPC_SIM_SCENE_JOINT_CONTACT_H_

#include <optional>

#include "sim/base/interrupt.h"
#include "sim/dynamics/model.h"
#include "sim/scene/pair_overrides.h"

namespace eipc {

// Whether the bodies of a joint may touch each other: as `asked`, or else as a contact pair of the scene says, or else unless their
// surfaces overlap as placed. Disables the pair in the model where they may not. `interrupt`, which may be null, ends the
// comparison of surfaces.
JointContact SetJointContact(const PairOverrides& pairs, const std::optional<bool>& asked, int32_t body_a, int32_t body_b,
                             Model* model, Interrupt* interrupt);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_JOINT_CONTACT_H_
