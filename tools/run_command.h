#ifndef EIPC_TOOLS_RUN_COMMAND_H_
#define EIPC_TOOLS_RUN_COMMAND_H_

namespace CLI {
class App;
}

namespace eipc {

// `eipc run SCENE --dt S ...`: runs a scene on this machine, no network, along its own trajectories, and writes a report.
void AddRunCommand(CLI::App& app, int* exit_status);

}  // namespace eipc

#endif  // EIPC_TOOLS_RUN_COMMAND_H_
