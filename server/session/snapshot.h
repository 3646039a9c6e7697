#ifndef EIPC_SERVER_SESSION_SNAPSHOT_H_
#define EIPC_SERVER_SESSION_SNAPSHOT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// A state as bytes that can be kept and sent: a mark, a version, the length, then the names of the scene and of the build and the
// state (state_bytes.h), and a CRC-32 over all of it.
std::string PackSnapshot(const std::string& scene_name, const State& state, const Model& model);

struct Snapshot {
  State state;
  // The build that took it, when that is another: then the state has its positions, velocities, drives, step and time, and what
  // follows is not promised to have the bits that it would have had there. Empty: it continues bit for bit.
  std::string migrated_from_build;
};

// What is in a snapshot of this scene. INVALID_ARGUMENT with reason SNAPSHOT_CORRUPT for bytes that are no whole snapshot,
// FAILED_PRECONDITION with SNAPSHOT_FOREIGN for a sound one of a later format or of another scene, and for one of another build
// that this one cannot continue from (the text says which).
absl::StatusOr<Snapshot> UnpackSnapshot(absl::string_view bytes, const std::string& scene_name, const Model& model);

// What reading a snapshot holds at most, beside its bytes, for each of them: the lists of a state, which grow by doubling.
inline constexpr int64_t kSnapshotReadingPerByte = 6;

// The same, and the surfaces it describes do not intersect, exactly (SNAPSHOT_CORRUPT): for bytes that this server did not make.
absl::StatusOr<Snapshot> UnpackForeignSnapshot(absl::string_view bytes, const std::string& scene_name, const Model& model);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SNAPSHOT_H_
