#ifndef EIPC_TOOLS_CAGE_COMMAND_H_
#define EIPC_TOOLS_CAGE_COMMAND_H_

namespace CLI {
class App;
}

namespace eipc {

// `eipc cage FILE --vertices N ...`: makes any mesh a simulation-ready embedded body, and reports (docs/howto/cages.md).
void AddCageCommand(CLI::App& app, int* exit_status);

}  // namespace eipc

#endif  // EIPC_TOOLS_CAGE_COMMAND_H_
