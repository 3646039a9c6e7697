// eipc: local runs, checks and remote calls from the command line. Exit status: 0 done, 1 the answer is no (an audit or check
// failed), 2 the request could not be carried out; 3..6 of meshing: docs/howto/cages.md.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <optional>
#include <string>

#include "tools/cage_command.h"
#include "tools/ccd_query_command.h"
#include "tools/check_command.h"
#include "tools/client_command.h"
#include "tools/condensed_cache.h"
#include "tools/describe_command.h"
#include "tools/grasp_command.h"
#include "tools/python_command.h"
#include "tools/robot_command.h"
#include "tools/run_command.h"
#include "tools/verify_command.h"

namespace {

// Bounds do not hold "nan", which is neither above nor below them, nor do all options have bounds.
void RefuseNumbersThatAreNotFinite(CLI::App* app) {
  const CLI::Validator finite(
      [](const std::string& text) -> std::string {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value);
        return number && !std::isfinite(value) ? text + " is not a finite number" : "";
      },
      "");
  for (CLI::Option* option : app->get_options()) {
    if (option->get_type_name().rfind("FLOAT", 0) == 0) option->check(finite);
  }
  for (CLI::App* command : app->get_subcommands({})) RefuseNumbersThatAreNotFinite(command);
}

}  // namespace

int main(int argc, char** argv) {
  if (const std::optional<int> status = eipc::BecomePythonCommand(argc, argv)) return *status;
  CLI::App app("eipc: intersection-free simulation of soft objects in a gripper");
  app.set_version_flag("--version", std::string("eipc ") + EIPC_VERSION);
  app.require_subcommand(1);
  app.footer(
      "In Python:\n"
      "  record                      Record episodes of a scene, or of a policy in an environment\n"
      "  replay                      Take the steps of recorded episodes again, and compare every state\n"
      "  diff                        Where two recorded episodes part\n"
      "  export                      Write recorded episodes for LeRobot, robomimic, Foxglove, Rerun, or as glTF and web pages\n"
      "  verify EPISODE | FOLDER     Replay the logs of episodes, or run those of an evaluation again\n"
      "  view RECORDING | SCENE      Show an episode, or a scene that runs, in a browser\n"
      "  learn                       Learn a policy for a grasping environment\n"
      "  evaluate                    Run a policy in many episodes\n"
      "  compare                     Compare two policies on the same episodes\n"
      "  bench --worlds N            Measure steps a second of many worlds stepped together");
  eipc::UseCondensedCache();
  int exit_status = 0;
  eipc::AddRunCommand(app, &exit_status);
  eipc::AddCageCommand(app, &exit_status);
  eipc::AddCheckCommand(app, &exit_status);
  eipc::AddClientCommand(app, &exit_status);
  eipc::AddDescribeCommand(app, &exit_status);
  eipc::AddGraspCommand(app, &exit_status);
  eipc::AddCcdQueryCommand(app, &exit_status);
  eipc::AddRobotCommand(app, &exit_status);
  eipc::AddVerifyCommand(app, &exit_status);
  RefuseNumbersThatAreNotFinite(&app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_status;
}
