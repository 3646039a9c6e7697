#ifndef EIPC_SERVER_CONVERT_SCENE_DIGEST_H_
#define EIPC_SERVER_CONVERT_SCENE_DIGEST_H_

#include <string>

#include "sim/scene/scene_spec.h"

namespace eipc::v1 {
class Scene;
}  // namespace eipc::v1

namespace eipc {

// SHA-256, the first 128 bits as 32 hex digits, of the message and of every mesh as read: what a scene is named by.
std::string SceneDigest(const v1::Scene& scene, const SceneSpec& spec);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_SCENE_DIGEST_H_
