#include "sim/dynamics/state_codec.h"

#include <cmath>

#include "sim/base/byte_archive.h"
#include "sim/dynamics/state_fields.h"

namespace eipc {
namespace {

// Visits a state and remembers whether a floating-point number in it is not finite.
class FiniteCheck {
 public:
  template <typename T>
  void Value(const T& value) {
    finite_ = finite_ && std::isfinite(static_cast<double>(value));
  }
  void Vector(const VecX& vector) { finite_ = finite_ && vector.allFinite(); }
  template <typename Container, typename Visit>
  void Each(const Container& container, Visit&& visit) {
    for (const auto& element : container) visit(element);
  }
  template <typename T, typename Visit>
  void Optional(const std::optional<T>& optional, Visit&& visit) {
    if (optional) visit(*optional);
  }
  bool finite() const { return finite_; }

 private:
  bool finite_ = true;
};

// Steps are counted up from it.
constexpr int64_t kMostSteps = int64_t{1} << 62;

bool RotationsAreUnit(const State& state) {
  for (const State::Drive& drive : state.drives) {
    if (std::abs(drive.commanded.rotation.norm() - 1) > 1e-9) return false;
  }
  return true;
}

}  // namespace

bool IsFinite(const State& state) {
  FiniteCheck check;
  VisitState(check, state);
  return check.finite();
}

std::string EncodeState(const State& state) {
  ByteWriter writer;
  VisitState(writer, state);
  return writer.Take();
}

absl::StatusOr<State> DecodeState(absl::string_view bytes, const Model& model) {
  ByteReader reader(bytes);
  State state;
  VisitState(reader, state);
  if (!reader.done()) return absl::InvalidArgumentError("state: its bytes are cut short, or there are too many");
  if (!StateFits(state, model)) return absl::InvalidArgumentError("state: its sizes do not fit this scene");
  if (!ContactPairsFit(state, model.node_count) || !IsFinite(state) || state.step < 0 || state.step > kMostSteps ||
      !RotationsAreUnit(state))
    return absl::InvalidArgumentError("state: holds numbers that no state has");
  return state;
}

}  // namespace eipc
