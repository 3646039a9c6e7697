#include "tools/local_scene.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <cstdlib>

#include "eipc/v1/scene.pb.h"
#include "server/convert/mesh_resolver.h"
#include "server/convert/scene_convert.h"
#include "server/convert/scene_override.h"
#include "server/convert/scene_text.h"
#include "sim/base/status_macros.h"
#include "sim/scene/compile_scene.h"

namespace eipc {

void AddLocalSceneOptions(CLI::App* command, LocalSceneOptions* options) {
  command->add_option("scene", options->scene, "Scene file (text proto of eipc.v1.Scene)")->required();
  command->add_option("--data", options->data_folder,
                      "Folder that \"data:PATH\" mesh references are relative to (default: EIPC_DATA)");
  command
      ->add_option("--set", options->overrides, "PATH=VALUE: override a field, e.g. bodies[teddy].material.youngs_modulus_pa=3e4")
      ->allow_extra_args(false);
}

absl::StatusOr<SceneSpec> ReadLocalScene(const LocalSceneOptions& options, Problems* problems) {
  EIPC_ASSIGN_OR_RETURN(v1::Scene scene, LoadSceneText(options.scene));
  EIPC_RETURN_IF_ERROR(ApplyOverrides(options.overrides, &scene));
  std::string data = options.data_folder;
  if (data.empty() && std::getenv("EIPC_DATA") != nullptr) data = std::getenv("EIPC_DATA");
  return SceneFromProto(scene, MeshResolver::ForLocalScene(options.scene, data), problems);
}

absl::StatusOr<std::shared_ptr<const Model>> LoadLocalScene(const LocalSceneOptions& options) {
  Problems problems;
  EIPC_ASSIGN_OR_RETURN(const SceneSpec spec, ReadLocalScene(options, &problems));
  return CompileScene(spec, std::move(problems));
}

int Complain(const absl::Status& status) {
  std::fprintf(stderr, "eipc: %s\n", std::string(status.message()).c_str());
  return 2;
}

}  // namespace eipc
