#ifndef EIPC_TOOLS_VERIFY_COMMAND_H_
#define EIPC_TOOLS_VERIFY_COMMAND_H_

namespace CLI {
class App;
}

namespace eipc {

// `eipc verify RECORDING`: takes a recording's steps again and compares the digests. Exit status 0 when all agree, 1 when one does
// not.
void AddVerifyCommand(CLI::App& app, int* exit_status);

}  // namespace eipc

#endif  // EIPC_TOOLS_VERIFY_COMMAND_H_
