#include "tools/client_command.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/client.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/scene_override.h"
#include "sim/base/status_macros.h"
#include "tools/local_scene.h"

namespace eipc {
namespace {

struct ClientOptions {
  std::string server = "127.0.0.1:50051";
  std::string name;
  LocalSceneOptions scene;
  double dt_s = 0;
  double duration_s = 0;
  int threads = 1;
};

void PrintScene(const client::SceneInfo& info) {
  std::printf("%s  %-28s %3zu bodies %6d unknowns %8d triangles\n", info.name.c_str(), info.display_name.c_str(),
              info.bodies.size(), info.unknowns, info.surface_triangles);
}

absl::StatusOr<client::SceneInfo> Create(client::Client* client, const ClientOptions& options, client::SceneSource* source) {
  EIPC_RETURN_IF_ERROR(ApplyOverrides(options.scene.overrides, &source->message()));
  return client->CreateScene(*source);
}

absl::Status ListScenes(const ClientOptions& options) {
  EIPC_ASSIGN_OR_RETURN(client::Client client, client::Client::Connect(options.server));
  EIPC_ASSIGN_OR_RETURN(const std::vector<client::SceneInfo> scenes, client.ListScenes());
  for (const client::SceneInfo& info : scenes) PrintScene(info);
  if (scenes.empty()) std::printf("no scenes\n");
  return absl::OkStatus();
}

absl::Status CreateScene(const ClientOptions& options) {
  EIPC_ASSIGN_OR_RETURN(client::SceneSource source, client::SceneSource::FromFile(options.scene.scene, options.scene.data_folder));
  EIPC_ASSIGN_OR_RETURN(client::Client client, client::Client::Connect(options.server));
  EIPC_ASSIGN_OR_RETURN(const client::SceneInfo info, Create(&client, options, &source));
  PrintScene(info);
  return absl::OkStatus();
}

absl::Status DeleteScene(const ClientOptions& options) {
  EIPC_ASSIGN_OR_RETURN(client::Client client, client::Client::Connect(options.server));
  return client.DeleteScene(options.name);
}

void PrintStep(const client::Observation& now) {
  std::printf("t %7.3f s  %2d Newton iterations  gap %.3e m  %4d contacts", now.time_s, now.solver.newton_iterations,
              now.min_distance_m, now.point_triangle_contacts + now.edge_edge_contacts);
  for (const client::BodyState& body : now.bodies) {
    const client::Vector3 p = body.pose.position_m;
    std::printf("  %s (%.4f %.4f %.4f)", body.name.c_str(), p[0], p[1], p[2]);
  }
  std::printf("\n");
}

// Steps a scene on the server along its own trajectories, through a stream with a few requests in flight.
absl::Status RunScene(ClientOptions options) {
  EIPC_ASSIGN_OR_RETURN(client::SceneSource source, client::SceneSource::FromFile(options.scene.scene, options.scene.data_folder));
  EIPC_ASSIGN_OR_RETURN(client::Client client, client::Client::Connect(options.server));
  EIPC_ASSIGN_OR_RETURN(const client::SceneInfo info, Create(&client, options, &source));
  if (options.dt_s == 0) options.dt_s = source.message().schedule().dt_s();
  if (options.duration_s == 0) options.duration_s = source.message().schedule().duration_s();
  if (!(options.dt_s > 0) || !(options.duration_s > 0)) {
    return absl::InvalidArgumentError("give --dt and --duration, s: the scene's schedule has none");
  }
  EIPC_ASSIGN_OR_RETURN(client::Session session, client.CreateSession(info.name, options.threads));
  client::StepStream stream = session.OpenStream();
  client::StepOptions step;
  step.observe = {.poses = true, .contact_counts = true, .min_distance = true, .solver_report = true, .state_digest = true};
  constexpr int64_t kInFlight = 4;
  const int64_t steps = std::llround(options.duration_s / options.dt_s);
  client::Observation last;
  for (int64_t i = 0; i < steps + kInFlight; ++i) {
    if (i < steps) EIPC_RETURN_IF_ERROR(stream.Send(options.dt_s, step));
    if (i < kInFlight) continue;
    EIPC_ASSIGN_OR_RETURN(last, stream.Receive());
    PrintStep(last);
  }
  EIPC_RETURN_IF_ERROR(stream.Finish());
  std::printf("state digest %s\n", last.state_digest.c_str());
  return session.Delete();
}

}  // namespace

void AddClientCommand(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<ClientOptions>();
  CLI::App* command = app.add_subcommand("client", "Use a running eipc-server");
  command->require_subcommand(1);
  command->add_option("--server", options->server, "Address of the server")->capture_default_str();
  const auto finish = [exit_status](const absl::Status& status) { *exit_status = status.ok() ? 0 : Complain(status); };
  command->add_subcommand("scenes", "List scenes")->callback([options, finish] { finish(ListScenes(*options)); });
  CLI::App* create = command->add_subcommand("create", "Create a scene from a file; prints its name");
  AddLocalSceneOptions(create, &options->scene);
  create->callback([options, finish] { finish(CreateScene(*options)); });
  CLI::App* remove = command->add_subcommand("delete", "Delete a scene");
  remove->add_option("name", options->name, "scenes/ID")->required();
  remove->callback([options, finish] { finish(DeleteScene(*options)); });
  CLI::App* run = command->add_subcommand("run", "Create a scene and step it on the server along its own trajectories");
  AddLocalSceneOptions(run, &options->scene);
  run->add_option("--dt", options->dt_s, "Time step, s (default: the scene's schedule)");
  run->add_option("--duration", options->duration_s, "Simulated time, s (default: the scene's schedule)");
  run->add_option("--threads", options->threads, "Threads inside a step")->check(CLI::Range(1, 256));
  run->callback([options, finish] { finish(RunScene(*options)); });
}

}  // namespace eipc
