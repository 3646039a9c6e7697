#ifndef EIPC_SERVER_RPC_HANDLERS_CAGE_WORKER_H_
#define EIPC_SERVER_RPC_HANDLERS_CAGE_WORKER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "eipc/v1/scene.pb.h"
#include "server/os/child_process.h"
#include "sim/scene/scene_spec.h"
#include "sim/solver/step_budget.h"

namespace eipc::rpc {

// Cages are made by code that cannot be interrupted, so it runs in a child process, which can: `program --cage-worker` reads a
// scene of one embedded body from standard input and writes the same with its cage.

// Whether a body asks for a cage, or for a measurement of one: work of seconds to minutes.
bool WantsCages(const SceneSpec& spec);

// Gives every embedded body of `spec` that asks for a cage one, made by a child. The budget ends the child at once.
// INVALID_ARGUMENT with the path of a body whose cage cannot be made. The meter in `limits` is asked for what is sent and received.
absl::Status MakeCagesInChild(const std::string& program, const v1::Scene& scene, const StepBudget& budget,
                              const ChildLimits& limits, SceneSpec* spec);

// The child's part: the scene with its cage, or what is wrong.
absl::StatusOr<std::string> CageWorker(const std::string& input);

// The same on standard input and output, for main: an exit status.
int RunCageWorker();

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_CAGE_WORKER_H_
