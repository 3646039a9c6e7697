// libFuzzer target: one byte chooses a decoder, the rest is what it reads: a state, a snapshot, a journal or recording. None may
// crash or hold much more than it was given (./dev fuzz bounds what may be allocated at once); what it takes, it must write down
// again.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/session/action_log.h"
#include "server/session/checksum.h"
#include "server/session/snapshot.h"
#include "sim/dynamics/state_codec.h"
#include "tests/server/session/session_scenes.h"

namespace {

constexpr char kScene[] = "scenes/a";

const eipc::Model& TheModel() {
  static const std::shared_ptr<const eipc::Model> model = eipc::testing::PressedBox();
  return *model;
}

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void FuzzState(absl::string_view bytes) {
  const auto state = eipc::DecodeState(bytes, TheModel());
  if (state.ok()) Require(eipc::EncodeState(*state) == bytes, "a state that was taken is another one");
}

// Checksums are mended, or nothing would ever come past them.
void FuzzSnapshot(std::string bytes) {
  const uint32_t checksum = eipc::Crc32(bytes);
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  (void)eipc::UnpackForeignSnapshot(bytes, kScene, TheModel());
}

void FuzzLog(absl::string_view payload) {
  std::string bytes;
  const uint32_t size = static_cast<uint32_t>(payload.size()), checksum = eipc::Crc32(payload);
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  bytes.append(payload.data(), payload.size());
  eipc::LogReader reader(bytes);
  const auto record = reader.Next();
  if (record.ok() && record->has_value()) Require(eipc::EncodeRecord(**record) == bytes, "a record that was taken is another one");
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Now and then starts over from something sound.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  if (seed % 16 != 0) return LLVMFuzzerMutate(data, size, max_size);
  const eipc::State state = eipc::InitialState(TheModel());
  std::string sound;
  switch (seed / 16 % 3) {
    case 0:
      sound = std::string(1, '\0') + eipc::EncodeState(state);
      break;
    case 1:
      sound = eipc::PackSnapshot(kScene, state, TheModel());
      sound = std::string(1, '\1') + sound.substr(0, sound.size() - sizeof(uint32_t));
      break;
    default:
      eipc::LogStep step;
      step.targets = {{0, eipc::testing::PlateAt(1)}};
      step.trajectories.resize(2);
      step.trajectories[0].trajectory.keys.resize(3);
      sound = std::string(1, '\2') + eipc::EncodeRecord(step).substr(2 * sizeof(uint32_t));
  }
  if (sound.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(sound.begin(), sound.end(), data);
  return LLVMFuzzerMutate(data, sound.size(), max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 3 == 0) FuzzState(bytes);
  if (data[0] % 3 == 1) FuzzSnapshot(std::string(bytes));
  if (data[0] % 3 == 2) FuzzLog(bytes);
  return 0;
}
