#include "tools/cage_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/base/status_macros.h"
#include "tools/choose_budget.h"
#include "tools/prepare_mesh.h"
#include "tools/write_report.h"

namespace eipc {
namespace {

struct CageCommandOptions {
  PrepareOptions prepare;
  double error = 0;  // 0: the budget is given
  std::string out;
  std::string report;
};

absl::Status CopyTo(const std::string& from, const std::string& to, bool shell) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(to, error);
  for (const char* name : {"surface.obj", "cage.vtk", "report.json"}) {
    if (shell && std::string_view(name) == "cage.vtk") continue;
    // Renamed into place: a reader sees a whole file.
    const fs::path part = fs::path(to) / (std::string(name) + ".part");
    if (!error) fs::copy_file(fs::path(from) / name, part, fs::copy_options::overwrite_existing, error);
    if (!error) fs::rename(part, fs::path(to) / name, error);
  }
  if (error) return absl::UnavailableError("--out " + to + ": cannot be written: " + error.message());
  return absl::OkStatus();
}

absl::StatusOr<ReportedMesh> Make(const CageCommandOptions& options) {
  if (options.error != 0) return ChooseBudget(options.prepare, options.error);
  EIPC_ASSIGN_OR_RETURN(const PreparedMesh prepared, PrepareMesh(options.prepare));
  EIPC_ASSIGN_OR_RETURN(nlohmann::ordered_json report, ReadReport(prepared));
  return ReportedMesh{prepared, std::move(report)};
}

absl::Status Run(const CageCommandOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  EIPC_ASSIGN_OR_RETURN(auto made, Make(options));
  auto& [prepared, report] = made;
  if (!options.out.empty()) EIPC_RETURN_IF_ERROR(CopyTo(prepared.folder, options.out, options.prepare.shell.shell));
  const std::string folder = options.out.empty() ? prepared.folder : options.out;
  report["input"]["file"] = options.prepare.file;
  report["input"]["units"] = options.prepare.units;
  report["input"]["up"] = options.prepare.up;
  report["surface"]["file"] = folder + "/surface.obj";
  if (!options.prepare.shell.shell) report["cage"]["file"] = folder + "/cage.vtk";
  report["meshing_seconds"] = report["seconds"];
  report["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return WriteReport(options.report, report);
}

}  // namespace

void AddCageCommand(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<CageCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "cage",
      "Make any mesh an embedded body (repaired surface, enclosing cage) or a shell (welded, oriented, remeshed), and report");
  AddPrepareOptions(command, &options->prepare);
  command
      ->add_option("--error", options->error,
                   "Choose the budget: the median of the force errors in standard loads is to be at most this, the worst twice it")
      ->check(CLI::Range(0.001, 10.0))
      ->excludes(command->get_option("--vertices"))
      ->excludes(command->get_option("--shell"));
  command->add_option("--out", options->out,
                      "Folder for surface.obj, cage.vtk (not of a shell) and report.json (default: left in the cache)");
  command->add_option("--report", options->report, "Write the JSON report here (default: standard output)");
  command->callback([options, exit_status] {
    const absl::Status status = Run(*options);
    *exit_status = status.ok() ? 0 : ComplainAbout(options->prepare.file, status);
  });
}

}  // namespace eipc
