#include "tools/grasp_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/world.h"
#include "sim/mesh/read_mesh.h"
#include "sim/scene/coarse_space.h"
#include "sim/scene/compile_scene.h"
#include "tools/grasp_monitor.h"
#include "tools/grasp_scene.h"
#include "tools/prepare_mesh.h"
#include "tools/run_command.h"
#include "tools/run_report.h"
#include "tools/trajectory_file.h"
#include "tools/write_report.h"

namespace eipc {
namespace {

using Json = nlohmann::ordered_json;

struct GraspCommandOptions {
  PrepareOptions prepare;
  GraspOptions grasp;
  std::string report;
  std::string trajectory;
  int threads = 1;
  bool audit = false;
  bool no_remedy = false;  // against locking
  double run_limit_s = 1800;
};

void Describe(const GraspCommandOptions& o, const GraspScene& scene, const PreparedMesh& prepared) {
  std::fprintf(stderr,
               "eipc: %s: %.4g kg (density %.4g kg/m^3), E %.3g Pa, Poisson %.3g, friction %.3g, gripper scale %.3g, "
               "%.3g N a finger; %s; %.3g m high\n"
               "eipc: made in %s\n",
               o.prepare.file.c_str(), scene.mass_kg, o.grasp.density_kg_m3, o.grasp.youngs_modulus_pa, o.grasp.poissons_ratio,
               o.grasp.friction, o.grasp.gripper_scale, scene.grip_n, scene.orientation.c_str(), scene.height_m,
               prepared.folder.c_str());
}

// 0 lifted, 1 not.
absl::StatusOr<int> Run(const GraspCommandOptions& o) {
  PrepareOptions prepare = o.prepare;
  prepare.youngs_modulus_pa = o.grasp.youngs_modulus_pa;
  prepare.poissons_ratio = o.grasp.poissons_ratio;
  EIPC_ASSIGN_OR_RETURN(const PreparedMesh prepared, PrepareMesh(prepare));
  EIPC_ASSIGN_OR_RETURN(const Json cage_report, ReadReport(prepared));
  EIPC_ASSIGN_OR_RETURN(const MeshData surface, ReadMesh(prepared.folder + "/surface.obj"));
  MeshData cage;
  if (!o.prepare.shell.shell) {
    EIPC_ASSIGN_OR_RETURN(cage, ReadMesh(prepared.folder + "/cage.vtk"));
  }
  GraspOptions grasp = o.grasp;
  grasp.shell_thickness_m = o.prepare.shell.thickness_m;
  EIPC_ASSIGN_OR_RETURN(GraspScene scene, MakeGraspScene(surface, cage, grasp));
  BodySpec& object = scene.spec.bodies[0];
  const bool remedy = !o.no_remedy && !o.prepare.shell.shell;
  if (remedy) object.coarse_space = DefaultCoarseSpace(object);
  const bool condensed = object.coarse_space == CoarseSpace::kCondensed;
  const bool calibrated = remedy && !condensed && cage_report["locking"]["remedy"] == "calibrated";
  if (calibrated) {
    object.material.youngs_modulus_pa *= cage_report["locking"]["youngs_scale"].get<double>();
    object.material.poissons_ratio = cage_report["locking"]["poissons_ratio"];
  }
  Describe(o, scene, prepared);
  if (o.audit) scene.spec.solver.audit_every_n_steps = 1;
  EIPC_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, CompileScene(scene.spec, Problems()));
  LocalRun run;
  run.scene = "grasp of " + o.prepare.file;
  run.dt_s = scene.spec.schedule_dt_s;
  run.duration_s = scene.spec.schedule_duration_s;
  run.threads = o.threads;
  run.trajectory = o.trajectory;
  run.limit_s = o.run_limit_s;
  GraspMonitor monitor(model.get(), &scene);
  bool audit_passed = true;
  EIPC_ASSIGN_OR_RETURN(Json report, RunModel(
                                         model, run, [&](const World& world) { monitor.Add(world); }, &audit_passed));
  report["grasp"] = monitor.Outcome(report["holding"]["weight_n"]);
  report["grasp"]["width_m"] = scene.width_m;
  report["grasp"]["material"] = {{"density_kg_m3", o.grasp.density_kg_m3},
                                 {"youngs_modulus_pa", o.grasp.youngs_modulus_pa},
                                 {"poissons_ratio", o.grasp.poissons_ratio},
                                 {"friction", o.grasp.friction}};
  report["grasp"]["locking_remedy"] = condensed ? "condensed" : calibrated ? "calibrated" : "none";
  report["grasp"]["gripper_scale"] = o.grasp.gripper_scale;
  for (const char* part :
       {"input", "repair", "surface", "cage", "shell", "distance_m", "mass_properties_error", "locking", "error", "affine"}) {
    if (cage_report.contains(part)) report["prepared"][part] = cage_report[part];
  }
  EIPC_RETURN_IF_ERROR(WriteReport(o.report, report));
  const bool lifted = report["grasp"]["lifted"];
  if (!lifted || !audit_passed) {
    std::fprintf(stderr, "eipc: %s: %s\n", o.prepare.file.c_str(),
                 audit_passed ? report["grasp"]["reason"].get<std::string>().c_str() : "the audit failed");
  }
  return lifted && audit_passed ? 0 : 1;
}

}  // namespace

void AddGraspCommand(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<GraspCommandOptions>();
  options->prepare.max_faces = 2000;  // contact costs by the triangle
  CLI::App* command =
      app.add_subcommand("grasp", "Close two soft bubbles on any mesh with a set force, lift and hold it, and report");
  AddPrepareOptions(command, &options->prepare);
  // The grasp has its own defaults of these.
  command->remove_option(command->get_option("--youngs"));
  command->remove_option(command->get_option("--poisson"));
  GraspOptions* grasp = &options->grasp;
  command->add_option("--youngs", grasp->youngs_modulus_pa, "Young's modulus, Pa (default 1e6)")->check(CLI::PositiveNumber);
  command->add_option("--poisson", grasp->poissons_ratio, "Poisson's ratio (default 0.4)")->check(CLI::Range(0.0, 0.499));
  command->add_option("--density", grasp->density_kg_m3, "Density, kg/m^3 (default 800)")->check(CLI::PositiveNumber);
  command->add_option("--friction", grasp->friction, "Coulomb coefficient (default 0.8)")->check(CLI::Range(0.0, 10.0));
  command->add_option("--gripper-scale", grasp->gripper_scale, "Size of the gripper (default 1: opens 0.13 m)")
      ->check(CLI::Range(0.01, 100.0));
  command
      ->add_option("--grip-force", grasp->grip_force_n,
                   "Force of each finger, N (default: 12 times the square of the gripper's scale)")
      ->check(CLI::Range(1e-3, 1e4));
  command
      ->add_option("--pad-pressure", grasp->pad_overpressure_pa,
                   "Fill the pads with air at this pressure over the outside, Pa; the report has their volume and pressure")
      ->check(CLI::Range(-1e5, 1e6));
  command->add_option("--dt", grasp->dt_s, "Time step, s (default 0.02)")->check(CLI::Range(1e-4, 0.1));
  command
      ->add_option("--max-newton-iterations", grasp->max_newton_iterations,
                   "Iterations of a solve, after which the step, and with it the grasp, counts as not solved (default 100)")
      ->check(CLI::Range(1, 100000));
  command->add_option("--threads", options->threads, "Threads inside a step")->check(CLI::Range(1, 256));
  command->add_flag("--audit", options->audit, "Check every accepted state for intersections and inversions, exactly");
  command->add_flag("--no-remedy", options->no_remedy, "Leave the cage's material as it is, too stiff as coarse cages are");
  command->add_option("--report", options->report, "Write the JSON report here (default: standard output)");
  command->add_option("--trajectory", options->trajectory,
                      "Write surface positions of every step here (docs/reference/eipc_run.md)");
  command->add_option("--run-limit", options->run_limit_s, "Seconds after which the simulation is given up (default 1800)")
      ->check(CLI::PositiveNumber);
  command->callback([options, exit_status] {
    const absl::StatusOr<int> outcome = Run(*options);
    *exit_status = outcome.ok() ? *outcome : ComplainAbout(options->prepare.file, outcome.status());
  });
}

}  // namespace eipc
