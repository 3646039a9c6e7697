#include "tools/run_command.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/world.h"
#include "sim/scene/compile_scene.h"
#include "sim/sensor/goals.h"
#include "tools/full_space_comparison.h"
#include "tools/local_scene.h"
#include "tools/run_report.h"
#include "tools/step_log.h"
#include "tools/trajectory_file.h"
#include "tools/write_report.h"

namespace eipc {
namespace {

struct RunOptions {
  LocalSceneOptions scene;
  double dt_s = 0;
  double duration_s = 0;
  int threads = 1;
  double step_limit_s = 0;
  bool audit = false;
  bool compare_full = false;
  std::string report;
  std::string steps;
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

absl::StatusOr<int64_t> StepCount(double dt_s, double duration_s) {
  if (!(dt_s > 0) || dt_s > 1) return absl::InvalidArgumentError("--dt: must be in (0, 1] s (the scene's schedule gives none)");
  if (!(duration_s > 0)) return absl::InvalidArgumentError("--duration: must be > 0 s (the scene's schedule gives none)");
  if (duration_s / dt_s > 1e9) return absl::InvalidArgumentError("--duration: more than 1e9 steps");
  return static_cast<int64_t>(std::llround(duration_s / dt_s));
}

nlohmann::ordered_json GoalsJson(const Model& model, const std::vector<GoalResult>& results) {
  nlohmann::ordered_json goals = nlohmann::ordered_json::object();
  for (size_t g = 0; g < results.size(); ++g) {
    const GoalResult& result = results[g];
    // Null: the run ended before the goal's from_s.
    goals[model.goals[g].name] = {{"reached", result.reached},
                                  {"value", result.value ? nlohmann::ordered_json(*result.value) : nlohmann::ordered_json(nullptr)},
                                  {"tolerance", model.goals[g].tolerance},
                                  {"unit", GoalUnit(model.goals[g])}};
  }
  return goals;
}

absl::StatusOr<bool> Run(RunOptions options) {
  if (options.audit) options.scene.overrides.push_back("solver.audit_every_n_steps=1");
  Problems problems;
  EIPC_ASSIGN_OR_RETURN(const SceneSpec spec, ReadLocalScene(options.scene, &problems));
  EIPC_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, CompileScene(spec, std::move(problems)));
  LocalRun run;
  run.scene = options.scene.scene;
  run.dt_s = options.dt_s == 0 ? model->schedule_dt_s : options.dt_s;
  run.duration_s = options.duration_s == 0 ? model->schedule_duration_s : options.duration_s;
  run.threads = options.threads;
  run.trajectory = options.trajectory;
  run.steps = options.steps;
  run.step_limit_s = options.step_limit_s;
  std::unique_ptr<FullSpaceComparison> comparison;
  std::function<void(const World&)> after_step;
  if (options.compare_full) {
    EIPC_ASSIGN_OR_RETURN(comparison, FullSpaceComparison::Create(spec, model, run.threads));
    after_step = [&](const World& world) { comparison->Step(world, run.dt_s); };
  }
  bool audit_passed = true;
  EIPC_ASSIGN_OR_RETURN(nlohmann::ordered_json report, RunModel(model, run, after_step, &audit_passed));
  if (comparison != nullptr) {
    EIPC_ASSIGN_OR_RETURN(report["compare_full"], comparison->Report());
  }
  EIPC_RETURN_IF_ERROR(WriteReport(options.report, report));
  return audit_passed;
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> RunModel(const std::shared_ptr<const Model>& model, const LocalRun& run,
                                                const std::function<void(const World&)>& after_step, bool* audit_passed) {
  EIPC_ASSIGN_OR_RETURN(const int64_t steps, StepCount(run.dt_s, run.duration_s));
  World world(model, run.threads);
  RunReport report(model.get(), run.scene, run.dt_s, run.threads);
  TrajectoryFile trajectory;
  if (!run.trajectory.empty()) {
    EIPC_RETURN_IF_ERROR(trajectory.Open(run.trajectory, model->surface.vertex_count, run.dt_s, steps));
  }
  StepLog log;
  if (!run.steps.empty()) EIPC_RETURN_IF_ERROR(log.Open(run.steps, *model));
  const auto start = std::chrono::steady_clock::now();
  GoalProgress goals(model.get());
  std::vector<Vec3> x;
  for (int64_t i = 0; i < steps; ++i) {
    EIPC_RETURN_IF_ERROR(world.Step({run.dt_s, {}, {}, SolveLimit::After(run.step_limit_s, SolveLimit::Clock::now())}, {}));
    world.SurfacePositions(&x);
    report.Add(world, x);
    goals.Add(world.state());
    EIPC_RETURN_IF_ERROR(log.Write(world, x));
    if (!run.trajectory.empty()) EIPC_RETURN_IF_ERROR(trajectory.Write(x));
    if (after_step) after_step(world);
    ShowProgress(world, run.duration_s, report.real_time_factor(), i + 1 == steps);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (run.limit_s > 0 && taken.count() > run.limit_s) {
      return absl::DeadlineExceededError(
          absl::StrFormat("simulated %.3g of %.3g s within %.4g s; use fewer --faces or a longer --run-limit", world.state().time_s,
                          run.duration_s, run.limit_s));
    }
  }
  EIPC_RETURN_IF_ERROR(trajectory.Close());
  EIPC_RETURN_IF_ERROR(log.Close());
  *audit_passed = report.audit().passed();
  if (!report.audit().passed()) {
    std::fprintf(stderr, "eipc: the audit failed: %ld intersecting pairs of triangles, %ld forbidden inversions in %ld states\n",
                 static_cast<long>(report.audit().intersections), static_cast<long>(report.audit().forbidden_inversions),
                 static_cast<long>(report.audit().states));
  }
  report.WarnOfCoarseContacts();
  nlohmann::ordered_json json = report.ToJson(world, x);
  if (run.step_limit_s > 0) json["time_limit"] = {{"limit_s", run.step_limit_s}, {"late_steps", report.late_steps()}};
  if (!model->goals.empty()) json["goals"] = GoalsJson(*model, goals.Results(world.state()));
  return json;
}

void AddRunCommand(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a scene here, along its own trajectories, and report");
  AddLocalSceneOptions(command, &options->scene);
  command->add_option("--dt", options->dt_s, "Time step, s (default: the scene's schedule)");
  command->add_option("--duration", options->duration_s, "Simulated time, s (default: the scene's schedule)");
  command->add_option("--threads", options->threads, "Threads inside a step (the bits do not depend on it)")
      ->check(CLI::Range(1, 256));
  command
      ->add_option("--step-limit", options->step_limit_s,
                   "Wall-clock time of each step, s: its solves then end with the best state that they have")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--audit", options->audit, "Check every accepted state for intersections and inversions, exactly");
  command->add_flag("--compare-full", options->compare_full,
                    "Run the scene in full space as well and report how far the cages' forces and deflections are off");
  command->add_option("--report", options->report, "Write the JSON report here (default: standard output)");
  command->add_option("--steps", options->steps,
                      "Write a line a step here: outcome, what limited it, energies (docs/reference/eipc_run.md)");
  command->add_option("--trajectory", options->trajectory,
                      "Write surface positions of every step here (docs/reference/eipc_run.md)");
  command->callback([options, exit_status] {
    const absl::StatusOr<bool> passed = Run(*options);
    *exit_status = !passed.ok() ? Complain(passed.status()) : *passed ? 0 : 1;
  });
}

}  // namespace eipc
