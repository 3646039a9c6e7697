// Touch, from C++: how far bodies slide on a slope, and how hard they press on it (docs/howto/touch.md has the scene).
//
//   build/release/bin/example_slide ADDRESS SCENE.textproto SLOPE BODY...

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "client/cpp/client.h"

namespace {

constexpr double kDt = 0.01;  // s
constexpr int kSteps = 60;

void Print(const eipc::client::Observation& seen, const std::string& slope, const std::string& name) {
  const eipc::client::PairSlip* slip = seen.FindSlip(name, slope);
  const eipc::client::BodyState* body = seen.Find(name);
  if (slip == nullptr || !slip->since_contact || body == nullptr || !body->contact_tractions) {
    std::printf("%s: touches %s nowhere\n", name.c_str(), slope.c_str());
    return;
  }
  double pressure = 0;
  for (size_t row = 0; row < body->contact_tractions->vertices.size(); ++row) {
    pressure = std::max(pressure, body->contact_tractions->PressurePa(row));
  }
  std::printf("%s: %s, %.6f m/s, %.2f mm in %.2f s of contact; presses with %.3f N, up to %.0f Pa\n", name.c_str(),
              slip->slipping() ? "slips" : "sticks", slip->velocity_m_s[0], 1e3 * slip->since_contact->displacement_m[0],
              seen.time_s - slip->since_contact->begun_s, slip->normal_force_n, pressure);
}

absl::Status Slide(const std::string& address, const std::string& path, const std::string& slope,
                   const std::vector<std::string>& bodies) {
  const auto source = eipc::client::SceneSource::FromFile(path);
  if (!source.ok()) return source.status();
  auto client = eipc::client::Client::Connect(address);
  if (!client.ok()) return client.status();
  const auto scene = client->CreateScene(*source);
  if (!scene.ok()) return scene.status();
  auto session = client->CreateSession(scene->name);
  if (!session.ok()) return session.status();
  const auto seen = session->Step(kDt, {.observe = {.contact_tractions = true, .slips = true}, .substeps = kSteps});
  if (!seen.ok()) return seen.status();
  for (const std::string& body : bodies) Print(*seen, slope, body);
  return session->Delete();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: example_slide ADDRESS SCENE.textproto SLOPE BODY...\n");
    return 2;
  }
  const absl::Status status = Slide(argv[1], argv[2], argv[3], {argv + 4, argv + argc});
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
