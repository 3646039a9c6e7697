#include "sim/dynamics/state.h"

#include <cstring>

#include "absl/strings/str_format.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/model.h"

namespace eipc {
namespace {

// FNV-1a over 64-bit words with a final mix; a fingerprint, not a cryptographic hash.
class Hasher {
 public:
  void Add(double value) {
    uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    AddWord(word);
  }
  void AddWord(uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001b3ULL;
    hash_ ^= hash_ >> 29;
  }
  uint64_t Finish() const {
    uint64_t h = hash_;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return h ^ (h >> 33);
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace

std::string State::Digest() const {
  Hasher h;
  h.AddWord(static_cast<uint64_t>(step));
  h.Add(time_s);
  for (Eigen::Index i = 0; i < q.size(); ++i) h.Add(q[i]);
  for (Eigen::Index i = 0; i < v.size(); ++i) h.Add(v[i]);
  h.Add(barrier_stiffness);
  for (const Drive& drive : drives) {
    for (int k = 0; k < 3; ++k) h.Add(drive.commanded.position[k]);
    for (int k = 0; k < 4; ++k) h.Add(drive.commanded.rotation.coeffs()[k]);
    h.AddWord(drive.by_client);
    h.Add(drive.error_m);
  }
  return absl::StrFormat("%016x", h.Finish());
}

State InitialState(const Model& model) {
  State state;
  state.q.resize(3 * model.node_count);
  state.v.resize(3 * model.node_count);
  for (int32_t i = 0; i < model.node_count; ++i) {
    state.q.segment<3>(3 * i) = model.start_positions[i];
    state.v.segment<3>(3 * i) = model.initial_velocities[i];
  }
  state.barrier_stiffness = InitialBarrierStiffness(model);
  for (const BoundarySet& set : model.boundary_sets) state.drives.push_back({set.initial_pose, false, 0});
  return state;
}

}  // namespace eipc
