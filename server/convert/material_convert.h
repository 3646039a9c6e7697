#ifndef EIPC_SERVER_CONVERT_MATERIAL_CONVERT_H_
#define EIPC_SERVER_CONVERT_MATERIAL_CONVERT_H_

#include "sim/dynamics/model.h"
#include "sim/dynamics/placement.h"
#include "sim/dynamics/state.h"
#include "sim/scene/problems.h"

namespace eipc::v1 {
class Observation;
class ResetRequest;
}  // namespace eipc::v1

namespace eipc {

// Fills materials and material_ranges of the order. `model` is the scene's. Adds what is wrong.
void StartMaterialsFromProto(const Model& model, const v1::ResetRequest& request, StartOrder* order, Problems* problems);
// Adds those that the state has in place of the scene's.
void MaterialsToProto(const Model& model, const State& state, v1::Observation* out);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_MATERIAL_CONVERT_H_
