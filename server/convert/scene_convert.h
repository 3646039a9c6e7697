#ifndef EIPC_SERVER_CONVERT_SCENE_CONVERT_H_
#define EIPC_SERVER_CONVERT_SCENE_CONVERT_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/convert/mesh_convert.h"
#include "server/convert/mesh_resolver.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"

namespace eipc::v1 {
class Body;
class Scene;
}  // namespace eipc::v1

namespace eipc {

// Authoring data of a scene message, meshes read. Checks what belongs to the wire (numbers finite, enum values known, arrays that
// fit their shape, files readable, unit quaternions) and adds every problem with its path; ranges and meaning are CompileScene's,
// to which the problems are appended:
//
//   Problems problems;
//   EIPC_ASSIGN_OR_RETURN(SceneSpec spec, SceneFromProto(scene, resolver, &problems));
//   EIPC_ASSIGN_OR_RETURN(auto model, CompileScene(spec, std::move(problems)));
//
// RESOURCE_EXHAUSTED when a limit is reached.
absl::StatusOr<SceneSpec> SceneFromProto(const v1::Scene& scene, const MeshResolver& resolver, Problems* problems,
                                         const ReadLimits& limits = {});

// The kind that the message of a body has; null: none.
const BodyKindRow* KindOf(const v1::Body& body);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_SCENE_CONVERT_H_
