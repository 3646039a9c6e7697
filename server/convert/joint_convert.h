#ifndef EIPC_SERVER_CONVERT_JOINT_CONVERT_H_
#define EIPC_SERVER_CONVERT_JOINT_CONVERT_H_

#include <string>

#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/scene/joint_spec.h"
#include "sim/scene/problems.h"

namespace eipc::v1 {
class Joint;
class Observation;
}  // namespace eipc::v1

namespace eipc {

// Adds what is missing under `path`.
JointSpec JointFromProto(const v1::Joint& message, const std::string& path, Problems* problems);
// Adds a reading for each joint of the model.
void JointReadingsToProto(const Model& model, const State& state, v1::Observation* out);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_JOINT_CONVERT_H_
