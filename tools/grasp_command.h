#ifndef EIPC_TOOLS_GRASP_COMMAND_H_
#define EIPC_TOOLS_GRASP_COMMAND_H_

namespace CLI {
class App;
}

namespace eipc {

// `eipc grasp FILE ...`: any mesh, prepared as by `eipc cage`, squeezed, lifted and held by two soft bubbles; reports as `eipc
// run`.
void AddGraspCommand(CLI::App& app, int* exit_status);

}  // namespace eipc

#endif  // EIPC_TOOLS_GRASP_COMMAND_H_
