#ifndef EIPC_TOOLS_PYTHON_COMMAND_H_
#define EIPC_TOOLS_PYTHON_COMMAND_H_

#include <optional>

namespace eipc {

// Commands of `eipc` that are written in Python (client/python/eipc/cli): bench, compare, diff, evaluate, export, learn, record,
// replay, and verify of the folder of an evaluation or of recorded episodes.
//
// Becomes the Python process when the command line names one of them. The exit status when that cannot be started; nullopt when the
// command is one of ours.
std::optional<int> BecomePythonCommand(int argc, char** argv);

}  // namespace eipc

#endif  // EIPC_TOOLS_PYTHON_COMMAND_H_
