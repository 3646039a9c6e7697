// What decoders hold grows with the bytes that they have read, never with a number that those bytes declare.
#include <gtest/gtest.h>

#include <string>

#include "server/session/action_log.h"
#include "server/session/checksum.h"
#include "server/session/snapshot.h"
#include "server/session/state_bytes.h"
#include "sim/base/byte_archive.h"
#include "sim/dynamics/state_codec.h"
#include "tests/server/session/session_scenes.h"
#include "tests/support/allocations.h"

namespace eipc {
namespace {

constexpr size_t kInput = size_t{8} << 20;
// A list that grows by doubling asks for up to four times what it ends with, and the least elements are three times as large in
// memory as on the wire.
constexpr int64_t kMostRequested = 12 * static_cast<int64_t>(kInput);

// At once: what the server asks its budget for.
constexpr int64_t kMostHeld = kSnapshotReadingPerByte * static_cast<int64_t>(kInput);

enum class Part { kDrives, kPairs, kMemory, kSleep, kSleepBodies, kHeld };

// A state of nothing but one list, which declares as many elements as `element_bytes` let it, and zeros after that.
std::string StateOf(Part part, size_t element_bytes) {
  ByteWriter writer;
  writer.Value(int64_t{0});  // step
  writer.Value(0.0);         // time
  writer.Value(uint64_t{0});
  writer.Value(uint64_t{0});
  writer.Value(1.0);  // barrier stiffness
  const uint64_t many = kInput / element_bytes;
  for (const Part list : {Part::kDrives, Part::kPairs, Part::kMemory, Part::kSleep}) {
    writer.Value(list == part ? many : list == Part::kSleep && part > Part::kSleep ? uint64_t{1} : uint64_t{0});
    if (list == part) break;
  }
  if (part == Part::kSleepBodies) writer.Value(many);
  if (part == Part::kHeld) {
    writer.Value(uint64_t{0});  // bodies
    writer.Value(uint64_t{0});  // baseline force
    writer.Value(many);
  }
  return writer.Take() + std::string(kInput, '\0');
}

TEST(DecoderMemory, OfAStateIsBoundedByWhatWasRead) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations are not counted in this build";
  const auto model = testing::PressedBox();
  for (const Part part : {Part::kDrives, Part::kPairs, Part::kMemory, Part::kSleep, Part::kSleepBodies, Part::kHeld}) {
    for (const size_t element_bytes : {size_t{1}, size_t{8}, size_t{24}}) {
      const std::string bytes = StateOf(part, element_bytes);
      const int64_t before = testing::RequestedBytes();
      testing::StartPeak();
      EXPECT_FALSE(DecodeState(bytes, *model).ok());
      EXPECT_LT(testing::RequestedBytes() - before, kMostRequested) << static_cast<int>(part) << " " << element_bytes;
      EXPECT_LT(testing::PeakBytes(), kMostHeld) << static_cast<int>(part) << " " << element_bytes;
    }
  }
}

TEST(DecoderMemory, OfASnapshotIsBoundedByWhatWasRead) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations are not counted in this build";
  const auto model = testing::PressedBox();
  const std::string sound = PackSnapshot("scenes/a", InitialState(*model), *model);
  const std::string state = PackState(InitialState(*model), *model);
  // The same snapshot with another state, sealed anew.
  const std::string other = StateOf(Part::kHeld, 8);
  std::string bytes = sound.substr(0, sound.size() - sizeof(uint32_t));
  const size_t at = bytes.find(state);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, state.size(), other);
  const auto put = [&bytes](size_t where, uint64_t value) { bytes.replace(where, 8, reinterpret_cast<const char*>(&value), 8); };
  put(at - 8, other.size());
  put(12, bytes.size() - 20);
  const uint32_t checksum = Crc32(bytes);
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  const int64_t before = testing::RequestedBytes();
  testing::StartPeak();
  EXPECT_FALSE(UnpackForeignSnapshot(bytes, "scenes/a", *model).ok());
  EXPECT_LT(testing::RequestedBytes() - before, kMostRequested);
  EXPECT_LT(testing::PeakBytes(), kMostHeld);
}

TEST(DecoderMemory, OfALogIsBoundedByWhatWasRead) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations are not counted in this build";
  ByteWriter payload;
  payload.Value(uint8_t{1});  // version
  payload.Value(uint8_t{2});  // a step
  payload.Value(int32_t{0});
  payload.Value(0.01);
  payload.Value(int32_t{1});
  payload.Value(uint64_t{0});           // targets
  payload.Value(uint64_t{kInput / 8});  // trajectories
  const std::string content = payload.Take() + std::string(kInput, '\0');
  ByteWriter frame;
  frame.Value(static_cast<uint32_t>(content.size()));
  frame.Value(Crc32(content));
  const std::string bytes = frame.Take() + content;
  LogReader reader(bytes);
  const int64_t before = testing::RequestedBytes();
  EXPECT_FALSE(reader.Next().ok());
  EXPECT_LT(testing::RequestedBytes() - before, kMostRequested);
}

}  // namespace
}  // namespace eipc
