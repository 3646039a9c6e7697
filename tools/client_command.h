#ifndef EIPC_TOOLS_CLIENT_COMMAND_H_
#define EIPC_TOOLS_CLIENT_COMMAND_H_

namespace CLI {
class App;
}

namespace eipc {

// `eipc client [--server HOST:PORT] scenes | create SCENE | delete NAME | run SCENE`: the same service that programs use.
void AddClientCommand(CLI::App& app, int* exit_status);

}  // namespace eipc

#endif  // EIPC_TOOLS_CLIENT_COMMAND_H_
