#ifndef EIPC_TOOLS_DESCRIBE_COMMAND_H_
#define EIPC_TOOLS_DESCRIBE_COMMAND_H_

namespace CLI {
class App;
}

namespace eipc {

// `eipc describe [SECTION]`: the mesh formats, materials, friction parameters and integrators that scenes may name, as Markdown.
void AddDescribeCommand(CLI::App& app, int* exit_status);

}  // namespace eipc

#endif  // EIPC_TOOLS_DESCRIBE_COMMAND_H_
