#include "tools/run_command.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/base/status_macros.h"
#include "sim/dynamics/simulation.h"
#include "tools/local_scene.h"
#include "tools/run_report.h"
#include "tools/trajectory_file.h"

namespace eipc {
namespace {

struct RunOptions {
  LocalSceneOptions scene;
  double dt_s = 0;
  double duration_s = 0;
  int threads = 1;
  bool audit = false;
  std::string report;
  std::string trajectory;
};

// A line that is rewritten in place, on a terminal only.
void ShowProgress(const World& world, double duration_s, double real_time_factor, bool last) {
  if (!isatty(STDERR_FILENO)) return;
  std::fprintf(stderr, "\r  %6.3f / %.3f s   %5.2fx real time   gap %.2e m   %d contacts  ", world.state().time_s, duration_s,
               real_time_factor, world.report().min_distance_m,
               world.contact_forces().point_triangle_count + world.contact_forces().edge_edge_count);
  if (last) std::fprintf(stderr, "\n");
}

absl::Status WriteReport(const std::string& path, const nlohmann::ordered_json& json) {
  const std::string text = json.dump(2) + "\n";
  if (path.empty() || path == "-") {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return absl::InvalidArgumentError(path + ": cannot be written");
  const bool written = std::fputs(text.c_str(), file) >= 0;
  if (std::fclose(file) != 0 || !written) return absl::InternalError(path + ": writing failed (is the disk full?)");
  return absl::OkStatus();
}

absl::StatusOr<int64_t> StepCount(double dt_s, double duration_s) {
  if (!(dt_s > 0) || dt_s > 1) return absl::InvalidArgumentError("--dt: must be in (0, 1] s (the scene's schedule gives none)");
  if (!(duration_s > 0)) return absl::InvalidArgumentError("--duration: must be > 0 s (the scene's schedule gives none)");
  if (duration_s / dt_s > 1e9) return absl::InvalidArgumentError("--duration: more than 1e9 steps");
  return static_cast<int64_t>(std::llround(duration_s / dt_s));
}

absl::StatusOr<bool> Run(RunOptions options) {
  if (options.audit) options.scene.overrides.push_back("solver.audit_every_n_steps=1");
  EIPC_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, LoadLocalScene(options.scene));
  if (options.dt_s == 0) options.dt_s = model->schedule_dt_s;
  if (options.duration_s == 0) options.duration_s = model->schedule_duration_s;
  EIPC_ASSIGN_OR_RETURN(const int64_t steps, StepCount(options.dt_s, options.duration_s));
  World world(model, options.threads);
  RunReport report(model.get(), options.scene.scene, options.dt_s, options.threads);
  TrajectoryFile trajectory;
  if (!options.trajectory.empty()) {
    EIPC_RETURN_IF_ERROR(trajectory.Open(options.trajectory, model->surface.vertex_count, options.dt_s, steps));
  }
  std::vector<Vec3> x;
  for (int64_t i = 0; i < steps; ++i) {
    EIPC_RETURN_IF_ERROR(world.Step({options.dt_s, {}}, {}));
    world.SurfacePositions(&x);
    report.Add(world, x);
    if (!options.trajectory.empty()) EIPC_RETURN_IF_ERROR(trajectory.Write(x));
    ShowProgress(world, options.duration_s, report.real_time_factor(), i + 1 == steps);
  }
  EIPC_RETURN_IF_ERROR(trajectory.Close());
  EIPC_RETURN_IF_ERROR(WriteReport(options.report, report.ToJson(world, x)));
  if (!report.audit().passed()) {
    std::fprintf(stderr, "eipc: the audit failed: %ld intersecting pairs of triangles, %ld forbidden inversions in %ld states\n",
                 static_cast<long>(report.audit().intersections), static_cast<long>(report.audit().forbidden_inversions),
                 static_cast<long>(report.audit().states));
  }
  return report.audit().passed();
}

}  // namespace

void AddRunCommand(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a scene here, along its own trajectories, and report");
  AddLocalSceneOptions(command, &options->scene);
  command->add_option("--dt", options->dt_s, "Time step, s (default: the scene's schedule)");
  command->add_option("--duration", options->duration_s, "Simulated time, s (default: the scene's schedule)");
  command->add_option("--threads", options->threads, "Threads inside a step (the bits do not depend on it)")
      ->check(CLI::Range(1, 256));
  command->add_flag("--audit", options->audit, "Check every accepted state for intersections and inversions, exactly");
  command->add_option("--report", options->report, "Write the JSON report here (default: standard output)");
  command->add_option("--trajectory", options->trajectory, "Write surface positions of every step here (docs/eipc_run.md)");
  command->callback([options, exit_status] {
    const absl::StatusOr<bool> passed = Run(*options);
    *exit_status = !passed.ok() ? Complain(passed.status()) : *passed ? 0 : 1;
  });
}

}  // namespace eipc
