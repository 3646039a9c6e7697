#ifndef EIPC_TOOLS_CHECK_COMMAND_H_
#define EIPC_TOOLS_CHECK_COMMAND_H_

namespace CLI {
class App;
}

namespace eipc {

// `eipc check SCENE`: validates and compiles a scene, audits its initial placement exactly, and prints what it is made of. Exit
// status 1 with every problem, a line each, when the scene cannot be used.
void AddCheckCommand(CLI::App& app, int* exit_status);

}  // namespace eipc

#endif  // EIPC_TOOLS_CHECK_COMMAND_H_
