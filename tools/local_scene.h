#ifndef EIPC_TOOLS_LOCAL_SCENE_H_
#define EIPC_TOOLS_LOCAL_SCENE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/dynamics/model.h"
#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"

namespace CLI {
class App;
}

namespace eipc {

// What every command that reads a scene from disk takes.
struct LocalSceneOptions {
  std::string scene;
  std::string data_folder;  // default: the environment's EIPC_DATA
  std::vector<std::string> overrides;
};

// Adds SCENE, --data and --set to a command.
void AddLocalSceneOptions(CLI::App* command, LocalSceneOptions* options);

// Reads, overrides and converts; findings about the scene's parts go to `problems`.
absl::StatusOr<SceneSpec> ReadLocalScene(const LocalSceneOptions& options, Problems* problems);

// Reads and compiles. INVALID_ARGUMENT lists every problem, a line each.
absl::StatusOr<std::shared_ptr<const Model>> LoadLocalScene(const LocalSceneOptions& options);

// Prints a status to standard error as `eipc: ...`; 2, the exit status of a request that could not be carried out.
int Complain(const absl::Status& status);

}  // namespace eipc

#endif  // EIPC_TOOLS_LOCAL_SCENE_H_
