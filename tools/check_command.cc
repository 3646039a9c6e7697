#include "tools/check_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <memory>

#include "sim/dynamics/world.h"
#include "tools/local_scene.h"

namespace eipc {
namespace {

void PrintBodies(const Model& model) {
  std::printf("%-16s %-11s %10s %9s %9s %9s %9s   %s\n", "body", "kind", "mass [kg]", "nodes", "tets", "vertices", "triangles",
              "driven sets");
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    std::string sets;
    for (const BoundarySet& set : model.boundary_sets) {
      if (set.body != static_cast<int32_t>(b)) continue;
      sets += (sets.empty() ? "" : ", ") + (set.name.empty() ? std::string("(whole body)") : set.name) + ":" +
              std::to_string(set.nodes.size());
    }
    std::printf("%-16s %-11s %10.6g %9d %9d %9d %9d   %s\n", body.name.c_str(), body.kind.c_str(), body.mass.mass,
                body.nodes.size(), body.tets.size(), body.vertices.size(), body.triangles.size(), sets.c_str());
  }
}

int Check(const LocalSceneOptions& options) {
  const absl::StatusOr<std::shared_ptr<const Model>> model = LoadLocalScene(options);
  if (!model.ok()) {
    Complain(model.status());
    return model.status().code() == absl::StatusCode::kInvalidArgument ? 1 : 2;
  }
  PrintBodies(**model);
  const World world(*model);
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  const StateAudit audit = AuditState(**model, world.state(), x);
  std::printf("unknowns %d; barrier stiffness %.4g; initial placement: %ld intersections, %ld inversions (exact, %.1f ms)\n",
              3 * (*model)->node_count, world.state().barrier_stiffness, static_cast<long>(audit.intersections),
              static_cast<long>(audit.inversions), 1e3 * audit.seconds);
  return audit.passed() ? 0 : 1;
}

}  // namespace

void AddCheckCommand(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<LocalSceneOptions>();
  CLI::App* command = app.add_subcommand("check", "Validate a scene, audit its start exactly, and say what it is made of");
  AddLocalSceneOptions(command, options.get());
  command->callback([options, exit_status] { *exit_status = Check(*options); });
}

}  // namespace eipc
