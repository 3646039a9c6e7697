#include "server/session/snapshot.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "server/session/build_id.h"
#include "server/session/checksum.h"
#include "server/session/ids.h"
#include "server/session/queue_full.h"
#include "server/session/state_bytes.h"
#include "sim/base/byte_archive.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/surface_audit.h"
#include "sim/energy/surface_map.h"

namespace eipc {
namespace {

constexpr uint64_t kMark = 0x50414e5343504945;  // "EIPCSNAP"
// 1: the state as only its own build reads it (0.1); 2: as state_bytes.h has it. Both have the same frame.
constexpr uint32_t kVersion = 2;
constexpr size_t kHeadBytes = sizeof(uint64_t) + sizeof(uint32_t) + sizeof(uint64_t);
constexpr size_t kTailBytes = sizeof(uint32_t);

absl::Status Corrupt(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("SNAPSHOT_CORRUPT: the snapshot ", what));
}

absl::Status Foreign(absl::string_view what, absl::string_view theirs, absl::string_view ours) {
  return absl::FailedPreconditionError(
      absl::StrCat("SNAPSHOT_FOREIGN: the snapshot is of ", what, " ", Printable(theirs), ", not of ", ours));
}

// What is between head and checksum, once both are sound.
absl::StatusOr<absl::string_view> Payload(absl::string_view bytes) {
  if (bytes.size() < kHeadBytes + kTailBytes) return Corrupt(absl::StrCat("has ", bytes.size(), " bytes: too few"));
  uint64_t mark = 0, size = 0;
  uint32_t version = 0, checksum = 0;
  ByteReader head(bytes.substr(0, kHeadBytes));
  head.Value(mark);
  head.Value(version);
  head.Value(size);
  if (mark != kMark) return Corrupt("does not begin like one");
  if (size != bytes.size() - kHeadBytes - kTailBytes) {
    return Corrupt(absl::StrCat("has ", bytes.size(), " bytes and says ", size, " of content: cut short, or joined to something"));
  }
  ByteReader tail(bytes.substr(bytes.size() - kTailBytes));
  tail.Value(checksum);
  if (checksum != Crc32(bytes.substr(0, bytes.size() - kTailBytes))) return Corrupt("does not match its checksum");
  if (version < 1 || version > kVersion) return Foreign("format", absl::StrCat(version), absl::StrCat(kVersion));
  return bytes.substr(kHeadBytes, size);
}

absl::Status CheckIntersectionFree(const State& state, const Model& model) {
  std::vector<Vec3> x;
  SurfaceMap(&model.embedding, &model.surface_offset).Positions(state.q, &x);
  return AuditSurfacesAt(model, x).clean() ? absl::OkStatus() : Corrupt("describes surfaces that intersect");
}

}  // namespace

std::string PackSnapshot(const std::string& scene_name, const State& state, const Model& model) {
  ByteWriter payload;
  payload.Text(scene_name);
  payload.Text(BuildId());
  payload.Text(PackState(state, model));
  ByteWriter bytes;
  bytes.Value(kMark);
  bytes.Value(kVersion);
  bytes.Text(payload.bytes());  // with its length as 64 bits
  std::string packed = bytes.Take();
  const uint32_t checksum = Crc32(packed);
  packed.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  return packed;
}

absl::StatusOr<Snapshot> UnpackSnapshot(absl::string_view bytes, const std::string& scene_name, const Model& model) {
  EIPC_ASSIGN_OR_RETURN(const absl::string_view payload, Payload(bytes));
  ByteReader reader(payload);
  absl::string_view scene, build, state_bytes;
  reader.Text(scene);
  reader.Text(build);
  reader.Text(state_bytes);
  if (!reader.done()) return Corrupt("holds something else than it should");
  if (scene != scene_name) return Foreign("scene", scene, scene_name);
  const bool own = build == BuildId();
  absl::StatusOr<State> state = UnpackState(state_bytes, model, own ? StateBits::kAll : StateBits::kPositionsAndVelocities);
  if (absl::IsFailedPrecondition(state.status())) {
    return Reworded(state.status(), absl::StrCat(state.status().message(), " (the snapshot is of build ", Printable(build),
                                                 ", this is ", BuildId(), ")"));
  }
  if (!state.ok()) return Corrupt(absl::StrCat("holds no state of this scene: ", state.status().message()));
  return Snapshot{*std::move(state), own ? std::string() : Printable(build)};
}

absl::StatusOr<Snapshot> UnpackForeignSnapshot(absl::string_view bytes, const std::string& scene_name, const Model& model) {
  EIPC_ASSIGN_OR_RETURN(Snapshot snapshot, UnpackSnapshot(bytes, scene_name, model));
  EIPC_RETURN_IF_ERROR(CheckIntersectionFree(snapshot.state, model));
  return snapshot;
}

}  // namespace eipc
