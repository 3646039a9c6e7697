#include "server/session/recover.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/session/build_id.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/state_codec.h"

namespace eipc {
namespace {

absl::Status CheckHeader(const LogHeader& header, const std::string& scene) {
  if (header.build != BuildId()) {
    return absl::FailedPreconditionError(
        absl::StrCat("SNAPSHOT_FOREIGN: the journal is of build ", header.build, ", this is ", BuildId()));
  }
  if (header.scene != scene || header.worlds < 1 || header.threads < 1) {
    return absl::InvalidArgumentError("RECORDING_CORRUPT: the journal's header makes no sense");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LogHeader> ReadLogHeader(const std::string& bytes) {
  LogReader reader(bytes);
  EIPC_ASSIGN_OR_RETURN(const std::optional<LogRecord> record, reader.Next());
  if (!record || !std::holds_alternative<LogHeader>(*record)) {
    return absl::InvalidArgumentError("RECORDING_CORRUPT: the journal has no header");
  }
  return std::get<LogHeader>(*record);
}

absl::StatusOr<std::unique_ptr<Session>> RecoverSession(SceneRegistry::Pin scene, const std::string& bytes) {
  EIPC_ASSIGN_OR_RETURN(const LogHeader header, ReadLogHeader(bytes));
  EIPC_RETURN_IF_ERROR(CheckHeader(header, scene->name));
  const std::shared_ptr<const Model> model = scene->model;
  Session::Options options;
  options.threads = header.threads;
  options.worlds = header.worlds;
  options.owner = header.owner;
  options.idle_timeout = std::chrono::duration<double>(header.idle_timeout_s);
  auto session = std::make_unique<Session>(std::move(scene), std::move(options));
  LogReader reader(bytes);
  while (true) {
    EIPC_ASSIGN_OR_RETURN(std::optional<LogRecord> record, reader.Next());
    if (!record) return session;
    if (auto* state = std::get_if<LogState>(&*record)) {
      if (state->world < 0 || state->world >= session->world_count()) return absl::InvalidArgumentError("RECORDING_CORRUPT: world");
      EIPC_ASSIGN_OR_RETURN(const State decoded, DecodeState(state->state, *model));
      EIPC_RETURN_IF_ERROR(session->Restore(state->world, decoded));
    } else if (auto* step = std::get_if<LogStep>(&*record)) {
      EIPC_RETURN_IF_ERROR(session->Replay(std::move(*step)));
    }
  }
}

}  // namespace eipc
