#ifndef EIPC_SERVER_RPC_HANDLERS_SCENE_INFO_H_
#define EIPC_SERVER_RPC_HANDLERS_SCENE_INFO_H_

#include <string>

#include "eipc/v1/service.pb.h"
#include "sim/dynamics/model.h"

namespace eipc::rpc {

// What a compiled scene is made of. With topology: triangles and initial surface positions of every body.
void FillSceneInfo(const std::string& name, const Model& model, bool topology, v1::SceneInfo* out);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_SCENE_INFO_H_
