// Drives a server hard and measures what comes back, for `./dev validate service` (study_service.py). One JSON object a line.
//
//   service_load echo                              serves StepStream by echoing; prints its address
//   service_load overhead SERVER ECHO COUNT        round trips on a stream: an empty scene's steps beside the bare echo, in turns
//   service_load overload SERVER SECONDS CLIENTS   steps from CLIENTS streams without pause, one first for the unloaded time
//   service_load observe SERVER COUNT              observations of about 1 MB
//   service_load fork SERVER SCENE_FILE COUNT      forks of a scene's session
//   service_load cancel SERVER SCENE_FILE COUNT SEED WINDOW_MS   until a step that is cancelled, or late, lets go of its session

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "eipc/v1/service.grpc.pb.h"
#include "tests/conformance/test_scenes.h"
#include "tests/validate/load_client.h"
#include "tests/validate/service_cancel.h"

namespace eipc {
namespace {

using load::Check;
using load::Clock;
using load::Connect;
using load::NewSession;
using load::Percentile;
using load::ReadScene;
using load::Since;
using load::StepOf;
using load::Stub;
using Stream = grpc::ClientReaderWriter<v1::StepRequest, v1::StepResponse>;

class EchoService final : public v1::SimulationService::Service {
 public:
  grpc::Status StepStream(grpc::ServerContext*, grpc::ServerReaderWriter<v1::StepResponse, v1::StepRequest>* stream) override {
    v1::StepRequest request;
    v1::StepResponse response;
    while (stream->Read(&request) && stream->Write(response)) {
    }
    return grpc::Status::OK;
  }
};

int Echo() {
  EchoService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  std::printf("echo listening on 127.0.0.1:%d\n", port);
  std::fflush(stdout);
  server->Wait();
  return 0;
}

v1::Scene EmptyScene() {
  v1::Scene scene = testing::BlockOnTable();
  scene.mutable_bodies()->DeleteSubrange(0, 1);
  return scene;
}

double RoundTrip(Stream* stream, const v1::StepRequest& request, v1::StepResponse* response) {
  const auto begin = Clock::now();
  if (!stream->Write(request) || !stream->Read(response)) {
    std::fprintf(stderr, "service_load: the stream ended\n");
    std::exit(2);
  }
  return Since(begin);
}

int Overhead(const std::string& server, const std::string& echo, int count) {
  const auto stub = Connect(server), echo_stub = Connect(echo);
  const v1::StepRequest request = StepOf(NewSession(stub.get(), EmptyScene()));
  grpc::ClientContext context, echo_context;
  const auto stream = stub->StepStream(&context);
  const auto echo_stream = echo_stub->StepStream(&echo_context);
  v1::StepResponse response;
  std::vector<double> steps, echoes;
  for (int i = -200; i < count; ++i) {
    const double echoed = RoundTrip(echo_stream.get(), request, &response);
    const double stepped = RoundTrip(stream.get(), request, &response);
    if (response.status_code() != 0) Check(grpc::Status(grpc::StatusCode::UNKNOWN, response.status_message()), "step");
    if (i >= 0) echoes.push_back(echoed);
    if (i >= 0) steps.push_back(stepped);
  }
  std::printf("{\"count\": %d, \"echo_p50_us\": %.2f, \"echo_p99_us\": %.2f, \"step_p50_us\": %.2f, \"step_p99_us\": %.2f}\n",
              count, 1e6 * Percentile(echoes, 0.5), 1e6 * Percentile(echoes, 0.99), 1e6 * Percentile(steps, 0.5),
              1e6 * Percentile(steps, 0.99));
  context.TryCancel();
  echo_context.TryCancel();
  return 0;
}

struct Tally {
  std::vector<double> admitted;
  std::vector<double> refused;
};

void Press(Stub* stub, const std::string& session, Clock::time_point until, Tally* tally) {
  grpc::ClientContext context;
  const auto stream = stub->StepStream(&context);
  const v1::StepRequest request = StepOf(session);
  v1::StepResponse response;
  while (Clock::now() < until) {
    const double seconds = RoundTrip(stream.get(), request, &response);
    (response.status_code() == 0 ? tally->admitted : tally->refused).push_back(seconds);
  }
  stream->WritesDone();
  (void)stream->Finish();
}

int Overload(const std::string& server, double seconds, int clients) {
  std::vector<std::unique_ptr<Stub>> stubs;
  std::vector<std::string> sessions;
  for (int i = 0; i < clients; ++i) {
    stubs.push_back(Connect(server));
    sessions.push_back(NewSession(stubs[i].get(), testing::FallingBlock(6, 1)));
  }
  const auto span = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Tally alone;
  Press(stubs[0].get(), sessions[0], Clock::now() + span, &alone);
  std::vector<Tally> tallies(clients);
  std::vector<std::thread> threads;
  const auto until = Clock::now() + span;
  for (int i = 0; i < clients; ++i) threads.emplace_back(Press, stubs[i].get(), sessions[i], until, &tallies[i]);
  for (std::thread& thread : threads) thread.join();
  Tally all;
  for (const Tally& tally : tallies) {
    all.admitted.insert(all.admitted.end(), tally.admitted.begin(), tally.admitted.end());
    all.refused.insert(all.refused.end(), tally.refused.begin(), tally.refused.end());
  }
  std::printf(
      "{\"clients\": %d, \"unloaded\": %zu, \"unloaded_p50_ms\": %.3f, \"unloaded_p99_ms\": %.3f, \"admitted\": %zu, "
      "\"admitted_p50_ms\": %.3f, \"admitted_p99_ms\": %.3f, \"refused\": %zu, \"refused_p50_ms\": %.3f, "
      "\"refused_p99_ms\": %.3f}\n",
      clients, alone.admitted.size(), 1e3 * Percentile(alone.admitted, 0.5), 1e3 * Percentile(alone.admitted, 0.99),
      all.admitted.size(), 1e3 * Percentile(all.admitted, 0.5), 1e3 * Percentile(all.admitted, 0.99), all.refused.size(),
      1e3 * Percentile(all.refused, 0.5), 1e3 * Percentile(all.refused, 0.99));
  return 0;
}

int ObserveLarge(const std::string& server, int count) {
  const auto stub = Connect(server);
  v1::Scene scene = EmptyScene();
  // 36^3 cells: some 7,800 surface vertices of 24 bytes; six such bodies make 1.1 MB.
  for (int i = 0; i < 6; ++i) {
    v1::Body& body = *scene.add_bodies();
    body.set_name("slab" + std::to_string(i));
    *body.mutable_static_body()->mutable_surface() = testing::BlockMesh(36, 0.1);
    body.mutable_pose()->mutable_position_m()->set_z(1 + i);
  }
  v1::StepRequest request = StepOf(NewSession(stub.get(), scene));
  request.mutable_observe()->set_surface_positions(true);
  grpc::ClientContext context;
  const auto stream = stub->StepStream(&context);
  v1::StepResponse response;
  std::vector<double> times;
  for (int i = -20; i < count; ++i) {
    const double seconds = RoundTrip(stream.get(), request, &response);
    if (i >= 0) times.push_back(seconds);
  }
  std::printf("{\"count\": %d, \"bytes\": %zu, \"p50_ms\": %.3f, \"p99_ms\": %.3f}\n", count, response.ByteSizeLong(),
              1e3 * Percentile(times, 0.5), 1e3 * Percentile(times, 0.99));
  context.TryCancel();
  return 0;
}

int Fork(const std::string& server, const std::string& file, int count) {
  const auto stub = Connect(server);
  const std::string session = NewSession(stub.get(), ReadScene(file));
  v1::StepRequest step = StepOf(session);
  step.set_substeps(20);
  v1::StepResponse response;
  grpc::ClientContext step_context;
  Check(stub->Step(&step_context, step, &response), "Step");
  std::vector<double> times;
  for (int i = -3; i < count; ++i) {
    v1::ForkSessionRequest request;
    request.set_session(session);
    v1::SessionInfo info;
    grpc::ClientContext context, delete_context;
    const auto begin = Clock::now();
    Check(stub->ForkSession(&context, request, &info), "ForkSession");
    if (i >= 0) times.push_back(Since(begin));
    v1::DeleteSessionRequest remove;
    remove.set_session(info.name());
    google::protobuf::Empty empty;
    Check(stub->DeleteSession(&delete_context, remove, &empty), "DeleteSession");
  }
  std::printf("{\"count\": %d, \"p50_ms\": %.3f, \"p99_ms\": %.3f}\n", count, 1e3 * Percentile(times, 0.5),
              1e3 * Percentile(times, 0.99));
  return 0;
}

int Main(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words[0];
  if (command == "echo") return Echo();
  if (command == "overhead" && words.size() == 4) return Overhead(words[1], words[2], std::atoi(words[3].c_str()));
  if (command == "overload" && words.size() == 4)
    return Overload(words[1], std::atof(words[2].c_str()), std::atoi(words[3].c_str()));
  if (command == "observe" && words.size() == 3) return ObserveLarge(words[1], std::atoi(words[2].c_str()));
  if (command == "fork" && words.size() == 4) return Fork(words[1], words[2], std::atoi(words[3].c_str()));
  if (command == "cancel" && words.size() == 6) {
    return load::Cancel(words[1], words[2], std::atoi(words[3].c_str()), std::atoi(words[4].c_str()), std::atof(words[5].c_str()));
  }
  std::fprintf(stderr, "usage: see the head of tests/validate/service_load.cc\n");
  return 2;
}

}  // namespace
}  // namespace eipc

int main(int argc, char** argv) { return eipc::Main(std::vector<std::string>(argv + 1, argv + argc)); }
