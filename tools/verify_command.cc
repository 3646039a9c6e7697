#include "tools/verify_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/name_defaults.h"
#include "server/os/files.h"
#include "server/session/action_log.h"
#include "server/session/build_id.h"
#include "server/session/scene_registry.h"
#include "server/session/state_bytes.h"
#include "sim/base/status_macros.h"
#include "sim/scene/compile_scene.h"
#include "tools/local_scene.h"

namespace eipc {
namespace {

struct VerifyOptions {
  std::string file;
  std::string mesh_root;
  std::string data_folder;
  int threads = 1;
  bool any_build = false;
};

// The scene of a recording, compiled, and found to be the one it says.
absl::StatusOr<std::shared_ptr<const Model>> CompileRecorded(const LogHeader& header, const VerifyOptions& options) {
  v1::Scene scene;
  if (!scene.ParseFromString(header.payload)) return absl::InvalidArgumentError("the recording holds no scene");
  Problems problems;
  const MeshResolver meshes({options.mesh_root, options.data_folder, false});
  EIPC_ASSIGN_OR_RETURN(const StoredSpec stored, SpecOfStored(meshes, &scene, &problems));
  EIPC_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, CompileScene(stored.spec, std::move(problems)));
  const std::string name = absl::StrCat(kScenePrefix, stored.digest);
  if (name == header.scene) return model;
  return absl::InvalidArgumentError(absl::StrCat("the scene is ", name, ", it was ", header.scene, " (have mesh files changed?)"));
}

absl::StatusOr<LogHeader> ReadHeader(LogReader* reader) {
  EIPC_ASSIGN_OR_RETURN(const std::optional<LogRecord> record, reader->Next());
  if (!record || !std::holds_alternative<LogHeader>(*record)) return absl::InvalidArgumentError("this is no recording");
  return std::get<LogHeader>(*record);
}

absl::Status Apply(const LogRecord& record, const std::vector<std::unique_ptr<World>>& worlds, int64_t* steps) {
  const auto world = [&](int32_t index) {
    return index >= 0 && index < static_cast<int32_t>(worlds.size()) ? worlds[index].get() : nullptr;
  };
  if (const auto* state = std::get_if<LogState>(&record); state != nullptr && world(state->world) != nullptr) {
    EIPC_ASSIGN_OR_RETURN(const State decoded, UnpackState(state->state, world(state->world)->model(), StateBits::kAll));
    return world(state->world)->Restore(decoded);
  }
  const auto* part = std::get_if<LogBatchStep>(&record);
  if (const auto* step = part != nullptr ? &part->step : std::get_if<LogStep>(&record)) {
    if (step->world < 0) return absl::OkStatus();  // a batch's answer
    if (world(step->world) == nullptr) return absl::InvalidArgumentError("a record names a world that there is not");
    *steps += step->substeps;
    return ReplayStep(*step, world(step->world));
  }
  if (std::holds_alternative<LogMigrated>(record)) return absl::OkStatus();  // says where the next state comes from
  return absl::InvalidArgumentError("a record is out of place");
}

// Whether every digest was found again.
absl::StatusOr<bool> Verify(const VerifyOptions& options) {
  const absl::StatusOr<std::string> bytes = ReadWholeFile(options.file);
  if (!bytes.ok()) return absl::InvalidArgumentError(options.file + ": cannot be read");
  LogReader reader(*bytes);
  EIPC_ASSIGN_OR_RETURN(const LogHeader header, ReadHeader(&reader));
  if (header.build != BuildId() && !options.any_build) {
    return absl::FailedPreconditionError(absl::StrCat("the recording is of build ", header.build, ", this is ", BuildId(),
                                                      "; other builds need not give the same bits (--any-build tries)"));
  }
  EIPC_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, CompileRecorded(header, options));
  std::vector<std::unique_ptr<World>> worlds;
  for (int i = 0; i < header.worlds; ++i) worlds.push_back(std::make_unique<World>(model, options.threads));
  int64_t steps = 0, requests = 0;
  while (true) {
    EIPC_ASSIGN_OR_RETURN(const std::optional<LogRecord> record, reader.Next());
    if (!record) break;
    const absl::Status status = Apply(*record, worlds, &steps);
    if (absl::IsDataLoss(status)) {
      std::printf("NOT verified: %s\n", std::string(status.message()).c_str());
      return false;
    }
    EIPC_RETURN_IF_ERROR(status);
    ++requests;
  }
  if (reader.torn()) return absl::InvalidArgumentError(absl::StrCat("the recording is torn at byte ", reader.offset()));
  std::printf("verified: %s, build %s, %zu world(s), %ld records, %ld steps, every digest found again\n", header.scene.c_str(),
              header.build.c_str(), worlds.size(), static_cast<long>(requests), static_cast<long>(steps));
  for (size_t i = 0; i < worlds.size(); ++i) std::printf("world %zu: state digest %s\n", i, worlds[i]->state().Digest().c_str());
  return true;
}

}  // namespace

void AddVerifyCommand(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand("verify", "Take a session's recording again and compare every digest");
  command->add_option("recording", options->file, "File from Session.recording() or GetRecording")->required();
  command->add_option("--mesh-root", options->mesh_root, "Folder of the mesh files that the scene names");
  command->add_option("--data", options->data_folder, "Folder of data:PATH meshes")->envname("EIPC_DATA");
  command->add_option("--threads", options->threads, "Threads inside a step (the bits do not depend on it)")
      ->check(CLI::Range(1, 256));
  command->add_flag("--any-build", options->any_build, "Try a recording of another build");
  command->callback([options, exit_status] {
    const absl::StatusOr<bool> verified = Verify(*options);
    *exit_status = !verified.ok() ? Complain(verified.status()) : *verified ? 0 : 1;
  });
}

}  // namespace eipc
