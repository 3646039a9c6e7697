#ifndef EIPC_SERVER_RPC_HANDLERS_SCENE_INFO_H_
#define EIPC_SERVER_RPC_HANDLERS_SCENE_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "eipc/v1/service.pb.h"
#include "sim/dynamics/model.h"
#include "sim/scene/scene_spec.h"

namespace eipc::rpc {

// What a compiled scene is made of. With topology: triangles and initial surface positions of every body.
void FillSceneInfo(const std::string& name, const Model& model, bool topology, v1::SceneInfo* out);

// At most what it is on the wire.
int64_t SceneInfoBytes(const Model& model, bool topology);

// See StoredScene::former_names; `scene` has its materials and coarse spaces named.
std::vector<std::string> FormerSceneNames(const SceneSpec& spec, v1::Scene* scene);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_SCENE_INFO_H_
