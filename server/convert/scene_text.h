#ifndef EIPC_SERVER_CONVERT_SCENE_TEXT_H_
#define EIPC_SERVER_CONVERT_SCENE_TEXT_H_

#include <string>

#include "absl/status/statusor.h"

namespace eipc::v1 {
class Scene;
}  // namespace eipc::v1

namespace eipc {

// Parses a scene in protobuf text format. INVALID_ARGUMENT lists every complaint as `name:line:column: text`.
absl::StatusOr<v1::Scene> ParseSceneText(const std::string& text, const std::string& name);

// The same from a file; NOT_FOUND or INVALID_ARGUMENT when it cannot be read.
absl::StatusOr<v1::Scene> LoadSceneText(const std::string& path);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_SCENE_TEXT_H_
