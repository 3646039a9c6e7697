#ifndef EIPC_SIM_DYNAMICS_STATE_CODEC_H_
#define EIPC_SIM_DYNAMICS_STATE_CODEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// Whether every number of a state is finite: states that are not cannot be read back.
bool IsFinite(const State& state);

// A state as bytes, every bit of it. Neither versioned nor checksummed: that is for the storage
// (server/session/snapshot.h).
std::string EncodeState(const State& state);

// INVALID_ARGUMENT when the bytes are no whole state, or not one of this model: its sizes differ or a number is not finite.
absl::StatusOr<State> DecodeState(absl::string_view bytes, const Model& model);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STATE_CODEC_H_
