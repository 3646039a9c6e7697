#ifndef EIPC_SIM_SCENE_FILLED_REGIONS_H_
#define EIPC_SIM_SCENE_FILLED_REGIONS_H_

#include <string>

#include "sim/base/interrupt.h"
#include "sim/dynamics/model.h"
#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// Adds the regions that the body's enclosed volumes name to the model, whose collision surface is built. `body` is the index there;
// `path` of the body. `interrupt` (may be null) ends it.
void AddFilledRegions(const BodySpec& spec, int32_t body, const std::string& path, Model* model, Problems* problems,
                      Interrupt* interrupt);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_FILLED_REGIONS_H_
