#include "tools/describe_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "tools/describe_parts.h"

namespace eipc {
namespace {

int Describe(const std::string& section) {
  const absl::StatusOr<std::string> text = section.empty() ? absl::StatusOr<std::string>(DescribeParts()) : DescribePart(section);
  if (!text.ok()) {
    std::fprintf(stderr, "eipc: %s\n", std::string(text.status().message()).c_str());
    return 2;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

void AddDescribeCommand(CLI::App& app, int* exit_status) {
  auto section = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("describe", "List the kinds of bodies, mesh formats, materials, friction, integrators and linear solvers");
  command->add_option("section", *section, "One table, for example materials; another name lists them (default: all)");
  command->callback([section, exit_status] { *exit_status = Describe(*section); });
}

}  // namespace eipc
