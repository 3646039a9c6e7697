// The grasp, from C++: two soft bubbles squeeze, lift and hold a soft teddy bear.
//
//   build/release/bin/eipc-server &
//   build/release/bin/example_bubble_teddy 127.0.0.1:50051 models/scenes/bubble_teddy_low_sound.textproto

#include <cmath>
#include <cstdio>
#include <string>

#include "client/cpp/client.h"

namespace {

using eipc::client::Client;
using eipc::client::DrivenFrame;
using eipc::client::SceneSource;

constexpr double kDt = 0.02;       // s
constexpr double kDuration = 4.0;  // s
constexpr double kGravity = 9.81;  // m/s^2

absl::Status Grasp(const std::string& address, const std::string& scene_path) {
  auto source = SceneSource::FromFile(scene_path);
  if (!source.ok()) return source.status();
  auto client = Client::Connect(address);
  if (!client.ok()) return client.status();
  const auto scene = client->CreateScene(*source);
  if (!scene.ok()) return scene.status();
  for (const auto& body : scene->bodies) {
    std::printf("%-12s %-10s %8.4f kg %8.3f N %6d surface vertices\n", body.name.c_str(), body.kind.c_str(), body.mass_kg,
                kGravity * body.mass_kg, body.surface_vertices);
  }
  auto session = client->CreateSession(scene->name);
  if (!session.ok()) return session.status();

  // The scene says where the fingers go; here the client commands it, as a robot's controller would.
  const std::vector<DrivenFrame> fingers = source->DrivenFrames();
  auto stream = session->OpenStream();
  const int steps = static_cast<int>(std::lround(kDuration / kDt));
  for (int step = 1; step <= steps; ++step) {
    eipc::client::StepOptions options;
    for (const DrivenFrame& finger : fingers) options.targets.push_back({finger.body, finger.boundary_set, finger.At(step * kDt)});
    options.observe = {.contact_wrenches = true, .contact_counts = true, .min_distance = true};
    const auto now = stream.Step(kDt, options);
    if (!now.ok()) return now.status();
    if (step % 25 != 0) continue;
    const auto* teddy = now->Find("teddy");
    std::printf("t = %.1f s: teddy at %.3f m, contact carries %.2f N, %d contacts, gap %.0f um\n", now->time_s,
                teddy == nullptr ? NAN : teddy->pose.position_m[2], now->ContactForceOn("teddy")[2],
                now->point_triangle_contacts + now->edge_edge_contacts, 1e6 * now->min_distance_m);
  }
  const absl::Status finished = stream.Finish();
  if (!finished.ok()) return finished;
  return session->Delete();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "127.0.0.1:50051";
  const std::string scene = argc > 2 ? argv[2] : "models/scenes/bubble_teddy_low_sound.textproto";
  const absl::Status status = Grasp(address, scene);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
