#ifndef EIPC_SERVER_SESSION_SNAPSHOT_H_
#define EIPC_SERVER_SESSION_SNAPSHOT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// A state as bytes that can be kept and sent: a mark, a version, the length, then the names of the scene and of the build and the
// state's bits, and a CRC-32 over all of it.
std::string PackSnapshot(const std::string& scene_name, const State& state);

// The state in a snapshot of this scene and this build. INVALID_ARGUMENT with reason SNAPSHOT_CORRUPT for bytes that are no whole
// snapshot, FAILED_PRECONDITION with SNAPSHOT_FOREIGN for a sound one of another version, build or scene (the text says which).
absl::StatusOr<State> UnpackSnapshot(absl::string_view bytes, const std::string& scene_name, const Model& model);

// The same, and the surfaces it describes do not intersect, exactly (SNAPSHOT_CORRUPT): for bytes that this server did not make.
absl::StatusOr<State> UnpackForeignSnapshot(absl::string_view bytes, const std::string& scene_name, const Model& model);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SNAPSHOT_H_
