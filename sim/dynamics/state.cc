#include "sim/dynamics/state.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/joint_drives.h"
#include "sim/dynamics/joints.h"
#include "sim/dynamics/materials.h"
#include "sim/dynamics/may_sleep.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/sliders.h"
#include "sim/dynamics/state_fields.h"

namespace eipc {
namespace {

// FNV-1a over 64-bit words with a final mix; a fingerprint, not a cryptographic hash.
class Hasher {
 public:
  void Value(const double& value) {
    uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    AddWord(word);
  }
  void Value(const int64_t& value) { AddWord(static_cast<uint64_t>(value)); }
  void Value(const int32_t& value) { AddWord(static_cast<uint64_t>(value)); }
  void Value(const bool& value) { AddWord(value); }
  void Vector(const VecX& vector) {
    for (Eigen::Index i = 0; i < vector.size(); ++i) Value(vector[i]);
  }
  template <typename Container, typename Visit>
  void Each(const Container& container, Visit&& visit) {
    AddWord(container.size());
    for (const auto& element : container) visit(element);
  }
  template <typename T, typename Visit>
  void Optional(const std::optional<T>& optional, Visit&& visit) {
    AddWord(optional.has_value());
    if (optional) visit(*optional);
  }
  uint64_t Finish() const {
    uint64_t h = hash_;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return h ^ (h >> 33);
  }

 private:
  void AddWord(uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001b3ULL;
    hash_ ^= hash_ >> 29;
  }
  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace

template <>
inline constexpr bool kLeavesOutEmpty<Hasher> = true;

std::string State::Digest() const {
  Hasher h;
  VisitState(h, *this);
  // Not absl::StrFormat, which ends the process where there is no memory: it writes in a destructor.
  return absl::StrCat(absl::Hex(h.Finish(), absl::kZeroPad16));
}

bool ContactPairsFit(const State& state, int32_t node_count) {
  for (size_t i = 0; i < state.contact_pairs.size(); ++i) {
    const auto [a, b] = state.contact_pairs[i];
    if (a < 0 || a >= b || b >= node_count) return false;
    if (i > 0 && !(state.contact_pairs[i - 1] < state.contact_pairs[i])) return false;
  }
  return true;
}

namespace {

bool HeldContactFits(const ContactForce& force, const State::Sleep& sleep, const Model& model) {
  const auto body_fits = [&](int32_t b) { return b >= 0 && b < static_cast<int32_t>(model.bodies.size()); };
  const auto vertex_fits = [&](int32_t v) { return v >= 0 && v < model.surface.vertex_count; };
  if (force.kind != ContactKind::kPointTriangle && force.kind != ContactKind::kEdgeEdge) return false;
  if (!body_fits(force.body_a) || !body_fits(force.body_b)) return false;
  if (!std::all_of(force.vertices.begin(), force.vertices.end(), vertex_fits)) return false;
  const auto rests = [&](int32_t b) { return sleep.bodies[b].asleep || !model.bodies[b].traits.moves; };
  const int second = force.kind == ContactKind::kPointTriangle ? 1 : 2;  // first vertex of the second side
  for (int i = 0; i < 4; ++i) {
    if (model.surface.vertex_body[force.vertices[i]] != (i < second ? force.body_a : force.body_b)) return false;
  }
  return rests(force.body_a) && rests(force.body_b);
}

bool HistoryFits(const State::History& past, Eigen::Index size) {
  const Eigen::Index kept = past.dt_s > 0 ? size : 0;
  return past.dt_s >= 0 && past.q.size() == kept && past.v.size() == kept && past.halvings >= 0;
}

bool SlidersFit(const State& state, const Model& model) {
  if (state.sliders.size() != model.sliders.size()) return false;
  for (size_t i = 0; i < state.sliders.size(); ++i) {
    const DriveMode mode = state.sliders[i].mode;
    if (mode != DriveMode::kPosition && mode != DriveMode::kVelocity && mode != DriveMode::kForce) return false;
    if (!DriveProblem(model.sliders[i], mode, state.sliders[i].value).empty()) return false;
  }
  return true;
}

bool SlidesFit(const State& state, const Model& model) {
  if (!state.slides.empty() && !model.dynamics.track_slip) return false;
  std::pair<int32_t, int32_t> last(-1, -1);
  for (const State::Slide& slide : state.slides) {
    const std::pair<int32_t, int32_t> pair(slide.body, slide.other);
    if (!(last < pair) || slide.body < 0 || slide.body >= slide.other || slide.other >= static_cast<int32_t>(model.bodies.size())) {
      return false;
    }
    if (!(slide.path_m >= 0)) return false;
    last = pair;
  }
  return true;
}

bool SleepFits(const State::Sleep& sleep, const Model& model) {
  if (!(model.dynamics.sleep.after_s > 0) || sleep.held == nullptr) return false;
  if (sleep.bodies.size() != model.bodies.size() || sleep.baseline_force.size() != 3 * model.node_count) return false;
  for (size_t b = 0; b < sleep.bodies.size(); ++b) {
    if (sleep.bodies[b].asleep && !MaySleep(model, static_cast<int32_t>(b))) return false;
    if (!(sleep.bodies[b].calm_s >= 0)) return false;
  }
  return std::all_of(sleep.held->begin(), sleep.held->end(),
                     [&](const State::HeldContact& held) { return HeldContactFits(held.force, sleep, model); });
}

}  // namespace

bool StateFits(const State& state, const Model& model) {
  const Eigen::Index size = 3 * model.node_count;
  if (state.q.size() != size || state.v.size() != size || state.drives.size() != model.boundary_sets.size()) return false;
  if (!ContactPairsFit(state, model.node_count) || !SlidersFit(state, model) || !SlidesFit(state, model)) return false;
  if (state.joints.size() != model.joints.size() || state.pose_drives.size() != model.pose_drives.size()) return false;
  if (!JointDrivesFit(state, model) || !MaterialsFit(state.materials, model)) return false;
  if (state.history && !HistoryFits(*state.history, size)) return false;
  return !state.sleep || SleepFits(*state.sleep, model);
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
  for (const Slider& slider : model.sliders) {
    State::Slider& start = state.sliders.emplace_back();
    if (!(slider.stiffness_n_m > 0)) start.mode = DriveMode::kForce;  // it takes no positions: nothing is commanded
    if (slider.motion.empty()) continue;
    start.mode = slider.motion.mode;
    start.value = slider.motion.At(0);
  }
  StartJoints(model, &state);
  state.pose_drives.resize(model.pose_drives.size());
  return state;
}

}  // namespace eipc
