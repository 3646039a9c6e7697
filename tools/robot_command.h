#ifndef EIPC_TOOLS_ROBOT_COMMAND_H_
#define EIPC_TOOLS_ROBOT_COMMAND_H_

namespace CLI {
class App;
}

namespace eipc {

// `eipc robot FILE`: imports a robot description and prints its tree, with the frames of its links at given coordinates, and what
// was ignored. Exit status 1 with every problem, a line each, when the description cannot be used.
void AddRobotCommand(CLI::App& app, int* exit_status);

}  // namespace eipc

#endif  // EIPC_TOOLS_ROBOT_COMMAND_H_
