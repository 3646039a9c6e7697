#ifndef EIPC_SIM_MESHING_PROGRESS_H_
#define EIPC_SIM_MESHING_PROGRESS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace eipc {

// Called at every stage of a long job (its name, and the share of the whole that is done, 0..1), on the thread that works.
// False asks to stop: the job then ends soon, between two steps, with CANCELLED. A single step of CGAL cannot be stopped.
using MeshingProgress = std::function<bool(const std::string& stage, double share)>;

inline absl::Status Report(const MeshingProgress& progress, const std::string& stage, double share) {
  if (progress && !progress(stage, share)) return absl::CancelledError("meshing was cancelled during: " + stage);
  return absl::OkStatus();
}

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_PROGRESS_H_
