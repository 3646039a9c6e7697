#include "server/session/action_log.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/session/checksum.h"
#include "sim/base/byte_archive.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/state_fields.h"

namespace eipc {
namespace {

// A record says its version, so that a log of another one is not misread: 1 has no drives, 2 no time limits; a later one is
// refused.
constexpr uint8_t kVersion = 3;
constexpr uint8_t kWithoutDrives = 1;
constexpr uint8_t kWithoutTimeLimits = 2;
constexpr size_t kFrameBytes = 2 * sizeof(uint32_t);
constexpr size_t kMaxRecordBytes = size_t{1} << 30;

template <typename Archive, typename H>
void VisitHeader(Archive& archive, H& header) {
  auto& [scene, payload, build, session, owner, worlds, threads, idle_timeout_s, recorded] = header;
  archive.Text(scene);
  archive.Text(payload);
  archive.Text(build);
  archive.Text(session);
  archive.Text(owner);
  archive.Value(worlds);
  archive.Value(threads);
  archive.Value(idle_timeout_s);
  archive.Value(recorded);
}

template <typename Archive, typename S>
void VisitLogState(Archive& archive, S& state) {
  auto& [world, bytes] = state;
  archive.Value(world);
  archive.Text(bytes);
}

template <typename Archive, typename S>
void VisitStep(Archive& archive, S& step, uint8_t version) {
  auto& [world, dt_s, substeps, targets, trajectories, digest, request_id, request, response, drives, ended_at] = step;
  archive.Value(world);
  archive.Value(dt_s);
  archive.Value(substeps);
  archive.Each(targets, [&archive](auto& target) {
    archive.Value(target.boundary_set);
    VisitPose(archive, target.pose);
  });
  archive.Each(trajectories, [&archive, version](auto& frame) {
    archive.Value(frame.boundary_set);
    if (version != kWithoutDrives) VisitEnum(archive, frame.trajectory.interpolation);
    archive.Each(frame.trajectory.keys, [&archive](auto& key) {
      archive.Value(key.time_s);
      VisitPose(archive, key.pose);
    });
  });
  archive.Text(digest);
  archive.Text(request_id);
  archive.Text(request);
  archive.Text(response);
  if (version == kWithoutDrives) return;
  archive.Each(drives, [&archive](auto& drive) {
    archive.Value(drive.drive);
    VisitEnum(archive, drive.motion.mode);
    VisitEnum(archive, drive.motion.interpolation);
    archive.Each(drive.motion.keys, [&archive](auto& key) {
      archive.Value(key.time_s);
      archive.Value(key.value);
    });
  });
  if (version == kWithoutTimeLimits) return;
  archive.Each(ended_at, [&archive](auto& check) { archive.Value(check); });
}

template <typename Archive, typename S>
void VisitBatchStep(Archive& archive, S& record, uint8_t version) {
  auto& [step] = record;
  VisitStep(archive, step, version);
}

template <typename Archive, typename M>
void VisitMigrated(Archive& archive, M& migrated) {
  auto& [build] = migrated;
  archive.Text(build);
}

template <typename Archive, typename R>
void VisitReached(Archive& archive, R& record, uint8_t version) {
  auto& [state, answer, batch_part] = record;
  VisitLogState(archive, state);
  VisitStep(archive, answer, version);
  archive.Value(batch_part);
}

template <typename Archive, typename R>
void VisitRecord(Archive& archive, R& record, uint8_t version) {
  using T = std::remove_const_t<R>;
  if constexpr (std::is_same_v<T, LogHeader>) {
    VisitHeader(archive, record);
  } else if constexpr (std::is_same_v<T, LogState>) {
    VisitLogState(archive, record);
  } else if constexpr (std::is_same_v<T, LogStep>) {
    VisitStep(archive, record, version);
  } else if constexpr (std::is_same_v<T, LogBatchStep>) {
    VisitBatchStep(archive, record, version);
  } else if constexpr (std::is_same_v<T, LogMigrated>) {
    VisitMigrated(archive, record);
  } else {
    VisitReached(archive, record, version);
  }
}

// What a record takes that may be long, bytes: it is written into room made for it. The rest is seldom more than kBesideTexts.
constexpr size_t kBesideTexts = 1024;
size_t LongTexts(const LogHeader& header) { return header.payload.size(); }
size_t LongTexts(const LogState& state) { return state.state.size(); }
size_t LongTexts(const LogStep& step) { return step.request.size() + step.response.size(); }
size_t LongTexts(const LogBatchStep& part) { return LongTexts(part.step); }
size_t LongTexts(const LogMigrated&) { return 0; }
size_t LongTexts(const LogReached& reached) { return LongTexts(reached.state) + LongTexts(reached.answer); }

void SetFrame(size_t payload_bytes, uint32_t checksum, std::string* bytes) {
  const std::array<uint32_t, 2> frame = {static_cast<uint32_t>(payload_bytes), checksum};
  std::memcpy(bytes->data(), frame.data(), kFrameBytes);
}

absl::Status Corrupt(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("RECORDING_CORRUPT: a record ", what));
}

template <typename T>
absl::StatusOr<std::optional<LogRecord>> ReadAs(ByteReader* reader, uint8_t version) {
  T value;
  VisitRecord(*reader, value, version);
  if (!reader->done()) return Corrupt("holds something else than it should");
  return std::optional<LogRecord>(std::move(value));
}

}  // namespace

template <typename T>
std::string EncodeRecord(const T& record) {
  ByteWriter out;
  out.Reserve(kFrameBytes + LongTexts(record) + kBesideTexts);
  out.Value(uint32_t{0});  // the frame, which is known when the rest is
  out.Value(uint32_t{0});
  out.Value(kVersion);
  out.Value(static_cast<uint8_t>(LogRecord(std::in_place_type<T>).index()));
  VisitRecord(out, record, kVersion);
  std::string bytes = out.Take();
  const absl::string_view payload = absl::string_view(bytes).substr(kFrameBytes);
  SetFrame(payload.size(), Crc32(payload), &bytes);
  return bytes;
}
template std::string EncodeRecord(const LogHeader& record);
template std::string EncodeRecord(const LogState& record);
template std::string EncodeRecord(const LogStep& record);
template std::string EncodeRecord(const LogBatchStep& record);
template std::string EncodeRecord(const LogMigrated& record);
template std::string EncodeRecord(const LogReached& record);

std::string EncodeRecord(const LogRecord& record) {
  return std::visit([](const auto& value) { return EncodeRecord(value); }, record);
}

std::string EncodeRecords(const std::vector<LogRecord>& records) {
  std::string bytes;
  for (const LogRecord& record : records) bytes += EncodeRecord(record);
  return bytes;
}

AroundPayload EncodeAround(const LogHeader& header, absl::string_view payload) {
  const std::string empty = EncodeRecord(header);  // version and kind, the scene's name, the payload's size and bytes, all others
  const size_t cut = kFrameBytes + 2 + sizeof(uint64_t) + header.scene.size();
  ByteWriter size;
  size.Value(static_cast<uint64_t>(payload.size()));
  AroundPayload around = {empty.substr(0, cut) + size.bytes(), empty.substr(cut + sizeof(uint64_t))};
  const uint32_t before = Crc32(absl::string_view(around.before).substr(kFrameBytes));
  SetFrame(around.before.size() - kFrameBytes + payload.size() + around.after.size(), Crc32(around.after, Crc32(payload, before)),
           &around.before);
  return around;
}

absl::StatusOr<std::optional<LogRecord>> LogReader::Next() {
  const absl::string_view rest = bytes_.substr(offset_);
  if (rest.size() < kFrameBytes) return std::nullopt;
  uint32_t size = 0, checksum = 0;
  ByteReader frame(rest.substr(0, kFrameBytes));
  frame.Value(size);
  frame.Value(checksum);
  if (size > kMaxRecordBytes || size > rest.size() - kFrameBytes) return std::nullopt;
  const absl::string_view payload = rest.substr(kFrameBytes, size);
  if (Crc32(payload) != checksum) return std::nullopt;
  ByteReader reader(payload);
  uint8_t version = 0, kind = 0;
  reader.Value(version);
  reader.Value(kind);
  if (!reader.ok() || version < kWithoutDrives || version > kVersion) {
    return Corrupt(absl::StrCat("is of version ", version, ", not ", kVersion));
  }
  offset_ += kFrameBytes + size;
  switch (kind) {
    case 0:
      return ReadAs<LogHeader>(&reader, version);
    case 1:
      return ReadAs<LogState>(&reader, version);
    case 2:
      return ReadAs<LogStep>(&reader, version);
    case 3:
      return ReadAs<LogBatchStep>(&reader, version);
    case 4:
      return ReadAs<LogMigrated>(&reader, version);
    case 5:
      return ReadAs<LogReached>(&reader, version);
    default:
      return Corrupt(absl::StrCat("is of unknown kind ", kind));
  }
}

absl::Status ReplayStep(const LogStep& step, World* world, ReplayBits bits, const StepBudget& budget) {
  for (const TimedDrive& drive : step.drives) {
    if (drive.motion.empty()) return Corrupt("commands a drive nothing");
  }
  if (!step.ended_at.empty() && step.ended_at.size() != static_cast<size_t>(step.substeps)) {
    return Corrupt("has ends of solves that are not those of its steps");
  }
  for (int i = 0; i < step.substeps; ++i) {
    StepInput input = SubstepInput(step.dt_s, {step.targets, step.trajectories, step.drives}, i);
    if (!step.ended_at.empty()) input.limit.ends_at_check = step.ended_at[i];
    EIPC_RETURN_IF_ERROR(world->Step(input, budget));
  }
  if (bits == ReplayBits::kOfAnotherBuild) return absl::OkStatus();
  const std::string digest = world->state().Digest();
  if (digest == step.digest) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("DIGEST_MISMATCH: world ", step.world, " at step ", world->state().step, " has digest ",
                                          digest, ", it was ", step.digest));
}

}  // namespace eipc
