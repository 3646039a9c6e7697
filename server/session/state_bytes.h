#ifndef EIPC_SERVER_SESSION_STATE_BYTES_H_
#define EIPC_SERVER_SESSION_STATE_BYTES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// A state as bytes that its own build continues bit for bit and that every later build can continue from: a mark, then entries,
// each a name and a value with their lengths. A reader skips names that it does not know; a writer never gives an old name another
// meaning.
//
//   step, time_s, barrier_stiffness   numbers
//   body                              one a body, in the scene's order: name, positions (m) and velocities (m/s) of its nodes
//   drive                             one a boundary set: body, name, commanded pose, by_client, error_m
//   slider                            one a slider: body, name, mode and value of its command, by_client
//   joint                             one a joint: name, coordinate (angles over whole turns)
//   joint_drive                       one a joint with a drive: name, mode, goal, value and rate of its command, by_client
//   material                          one a body that has another material than the scene gives it: name, Young's modulus (Pa),
//                                     Poisson's ratio, density (kg/m^3), friction over the scene's (states of earlier builds end
//                                     before it: 1)
//   rest                              what else is carried between steps, for the build that wrote it
std::string PackState(const State& state, const Model& model);

// Whose bits are wanted: those of the writing build, which must be this one, or where they were, in a build that may be another.
enum class StateBits { kAll, kPositionsAndVelocities };

// INVALID_ARGUMENT when the bytes are no whole state or hold numbers that no state has, FAILED_PRECONDITION (SNAPSHOT_FOREIGN) when
// its bodies are not those of this model, or when it is of version 0.1, which only its own build understands, and not all bits are
// wanted.
absl::StatusOr<State> UnpackState(absl::string_view bytes, const Model& model, StateBits bits);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_STATE_BYTES_H_
