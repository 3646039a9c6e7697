#ifndef EIPC_SERVER_CONVERT_VIEWER_SCENE_H_
#define EIPC_SERVER_CONVERT_VIEWER_SCENE_H_

#include <cstdint>

#include "sim/dynamics/model.h"

namespace eipc::v1 {
class ViewerScene;
}  // namespace eipc::v1

namespace eipc {

// What it has on the wire, at most.
int64_t ViewerSceneBytes(const Model& model);

// Surfaces with their map from cage positions, elements, and what can be driven. Worlds and recording are the caller's to fill in.
void ViewerSceneToProto(const Model& model, v1::ViewerScene* out);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_VIEWER_SCENE_H_
