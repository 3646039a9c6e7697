#ifndef EIPC_SERVER_CONVERT_SCENE_OVERRIDE_H_
#define EIPC_SERVER_CONVERT_SCENE_OVERRIDE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace eipc {

// Sets one field of a message, usually a scene: `path=value`.
//
//   solver.newton_tolerance_m_s=1e-6
//   bodies[0].material.youngs_modulus_pa=3e4
//   bodies[teddy].boundary_sets[grip].frame.position_m.z=1     elements by their `name`
//   contact.barrier_form=PER_PAIR
//   gravity_m_s2={x: 0 y: 0 z: -1.62}                     messages and lists in text format
//   bodies[pad].boundary_sets[rim].vertices=[0, 1, 2]
//
// A message is replaced whole. INVALID_ARGUMENT says which part of the path or value is wrong and what would be right; the message
// is then unchanged.
absl::Status ApplyOverride(const std::string& assignment, google::protobuf::Message* message);

// Applies them in order, and stops at the first error.
absl::Status ApplyOverrides(absl::Span<const std::string> assignments, google::protobuf::Message* message);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_SCENE_OVERRIDE_H_
