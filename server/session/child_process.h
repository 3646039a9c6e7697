#ifndef EIPC_SERVER_SESSION_CHILD_PROCESS_H_
#define EIPC_SERVER_SESSION_CHILD_PROCESS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// Runs a program with `input` on its standard input and returns its standard output. When the budget ends it is killed at once,
// wherever it is: for work that does not poll. CANCELLED / DEADLINE_EXCEEDED from the budget, RESOURCE_EXHAUSTED when it writes
// more than `max_output`, INTERNAL when it fails; the beginning of what it wrote to standard error is in the message. `heard` gets
// whole lines of standard error as they come, and takes those for which it returns true out of it.
absl::StatusOr<std::string> RunChild(const std::vector<std::string>& arguments, absl::string_view input, size_t max_output,
                                     const StepBudget& budget, const std::function<bool(const std::string& line)>& heard = nullptr);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_CHILD_PROCESS_H_
