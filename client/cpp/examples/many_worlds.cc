// Many worlds, from C++: each begins elsewhere and with a body of another stiffness, and all are stepped together
// (docs/howto/resets.md).
//
//   build/release/bin/example_many_worlds ADDRESS SCENE.textproto BODY WORLDS

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "client/cpp/client.h"

namespace {

using eipc::client::MaterialRange;
using eipc::client::NumberRange;
using eipc::client::PlacementRange;
using eipc::client::StepOptions;

constexpr double kDt = 0.01;  // s
constexpr int kSteps = 20;

// A start of its own for a world; prints what was drawn.
absl::Status Begin(eipc::client::Session* session, const std::string& body, int world) {
  const PlacementRange moved = {body, {{-0.005, -0.002, 0}, {0.005, 0.002, 0.01}}};
  const MaterialRange made = {.body = body, .youngs_modulus_pa = NumberRange{0.5, 2, true, true}};
  const auto drawn =
      session->Reset({.world = world, .seed = static_cast<uint64_t>(world), .ranges = {moved}, .material_ranges = {made}});
  if (!drawn.ok()) return drawn.status();
  std::printf("world %d: %s of %.3g Pa at %.4f m\n", world, body.c_str(), *drawn->materials[0].youngs_modulus_pa,
              drawn->Find(body)->pose.position_m[2]);
  return absl::OkStatus();
}

absl::Status Run(const std::string& address, const std::string& path, const std::string& body, int worlds) {
  const auto source = eipc::client::SceneSource::FromFile(path);
  if (!source.ok()) return source.status();
  auto client = eipc::client::Client::Connect(address);
  if (!client.ok()) return client.status();
  const auto scene = client->CreateScene(*source);
  if (!scene.ok()) return scene.status();
  auto session = client->CreateSession(scene->name, {.worlds = worlds});
  if (!session.ok()) return session.status();
  std::vector<StepOptions> steps;
  for (int world = 0; world < worlds; ++world) {
    const absl::Status begun = Begin(&*session, body, world);
    if (!begun.ok()) return begun;
    steps.push_back({.substeps = kSteps, .world = world});
  }
  const auto seen = session->StepStacked(kDt, steps, {.observe = {.solver_report = true, .bodies = {body}}});
  if (!seen.ok()) return seen.status();
  for (const auto& [world, why] : seen->failures) std::fprintf(stderr, "world %d: %s\n", world, why.ToString().c_str());
  for (int world = 0; world < worlds; ++world) {
    if (seen->failures.count(world) > 0) continue;
    std::printf("world %d: at %.4f m after %.2f s, %d iterations\n", world, seen->BodyPose(world, 0).position_m[2],
                seen->time_s[world], seen->solver.newton_iterations[world]);
  }
  return session->Delete();
}

}  // namespace

int main(int argc, char** argv) {
  const int worlds = argc == 5 ? std::atoi(argv[4]) : 0;
  if (worlds < 1) {
    std::fprintf(stderr, "usage: example_many_worlds ADDRESS SCENE.textproto BODY WORLDS\n");
    return 2;
  }
  const absl::Status status = Run(argv[1], argv[2], argv[3], worlds);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
