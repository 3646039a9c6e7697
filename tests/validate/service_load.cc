// Drives a server hard and measures what comes back, for `./dev validate service` (study_service.py). One JSON object a line.
//
//   service_load echo                              answers StepStream with `expected_step` bytes; prints its address
//   service_load overhead COUNT ECHO SERVER...     round trips on a stream: the bare echo and an empty scene's steps, in turns
//   service_load overload SERVER SECONDS CLIENTS TURNS   steps from one stream alone, then from CLIENTS without pause, in turns
//   service_load observe SERVER ECHO COUNT         observations of about 1 MB and echoes of the same size, in turns
//   service_load fork SERVER SCENE_FILE COUNT      forks of a scene's session and its steps, in turns
//   service_load cancel SERVER SCENE_FILE COUNT SEED WINDOW_MS   until a step that is cancelled, or late, lets go of its session
//   service_load search SERVER SCENE_FILE COUNT SEED   until a scene's creation that is late lets go of the only place to compile

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
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
    while (stream->Read(&request)) {
      response.mutable_status_message()->resize(static_cast<size_t>(request.expected_step()));
      if (!stream->Write(response)) break;
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

// A stream of steps over a connection of its own, and how long its round trips took.
class Lane {
 public:
  Lane(const std::string& address, v1::StepRequest request)
      : stub_(Connect(address)), request_(std::move(request)), stream_(stub_->StepStream(&context_)) {}
  ~Lane() { context_.TryCancel(); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void Go(bool counts) {
    const double seconds = RoundTrip(stream_.get(), request_, &response_);
    if (response_.status_code() != 0) Check(grpc::Status(grpc::StatusCode::UNKNOWN, response_.status_message()), "step");
    if (counts) seconds_.push_back(seconds);
  }
  size_t bytes() const { return response_.ByteSizeLong(); }
  void Print(const std::string& name) const {
    std::printf("\"%s_p50_us\": %.2f, \"%s_p99_us\": %.2f, ", name.c_str(), 1e6 * Percentile(seconds_, 0.5), name.c_str(),
                1e6 * Percentile(seconds_, 0.99));
  }

 private:
  const std::unique_ptr<Stub> stub_;
  const v1::StepRequest request_;
  grpc::ClientContext context_;
  const std::unique_ptr<Stream> stream_;
  v1::StepResponse response_;
  std::vector<double> seconds_;
};

int Overhead(int count, const std::string& echo, const std::vector<std::string>& servers) {
  std::vector<std::unique_ptr<Lane>> lanes;
  lanes.push_back(std::make_unique<Lane>(echo, StepOf("")));
  for (const std::string& server : servers) {
    lanes.push_back(std::make_unique<Lane>(server, StepOf(NewSession(Connect(server).get(), EmptyScene()))));
  }
  for (int i = -200; i < count; ++i) {
    for (const auto& lane : lanes) lane->Go(i >= 0);
  }
  std::printf("{");
  lanes[0]->Print("echo");
  for (size_t i = 1; i < lanes.size(); ++i) lanes[i]->Print(i == 1 ? "step" : "step" + std::to_string(i));
  std::printf("\"count\": %d}\n", count);
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

void PrintTurn(const Tally& alone, const Tally& all, bool last) {
  std::printf(
      "{\"unloaded\": %zu, \"unloaded_p50_ms\": %.3f, \"unloaded_p99_ms\": %.3f, \"admitted\": %zu, \"admitted_p50_ms\": %.3f, "
      "\"admitted_p99_ms\": %.3f, \"refused\": %zu, \"refused_p50_ms\": %.3f, \"refused_p99_ms\": %.3f}%s",
      alone.admitted.size(), 1e3 * Percentile(alone.admitted, 0.5), 1e3 * Percentile(alone.admitted, 0.99), all.admitted.size(),
      1e3 * Percentile(all.admitted, 0.5), 1e3 * Percentile(all.admitted, 0.99), all.refused.size(),
      1e3 * Percentile(all.refused, 0.5), 1e3 * Percentile(all.refused, 0.99), last ? "" : ", ");
}

int Overload(const std::string& server, double seconds, int clients, int turns) {
  std::vector<std::unique_ptr<Stub>> stubs;
  std::vector<std::string> sessions;
  for (int i = 0; i < clients; ++i) {
    stubs.push_back(Connect(server));
    sessions.push_back(NewSession(stubs[i].get(), testing::FallingBlock(6, 1)));
  }
  const auto span = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds / turns));
  std::printf("{\"clients\": %d, \"turns\": [", clients);
  for (int turn = 0; turn < turns; ++turn) {
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
    PrintTurn(alone, all, turn + 1 == turns);
  }
  std::printf("]}\n");
  return 0;
}

int ObserveLarge(const std::string& server, const std::string& echo, int count) {
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
  Lane observing(server, request);
  observing.Go(false);
  v1::StepRequest same_size = StepOf("");
  same_size.set_expected_step(static_cast<int64_t>(observing.bytes()));
  Lane echoing(echo, same_size);
  for (int i = -20; i < count; ++i) {
    echoing.Go(i >= 0);
    observing.Go(i >= 0);
  }
  std::printf("{");
  observing.Print("observe");
  echoing.Print("echo");
  std::printf("\"count\": %d, \"bytes\": %zu}\n", count, observing.bytes());
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
  step.set_substeps(1);
  std::vector<double> forks, steps;
  for (int i = -3; i < count; ++i) {
    v1::ForkSessionRequest request;
    request.set_session(session);
    v1::SessionInfo info;
    grpc::ClientContext context, delete_context, turn_context;
    const auto begin = Clock::now();
    Check(stub->ForkSession(&context, request, &info), "ForkSession");
    if (i >= 0) forks.push_back(Since(begin));
    v1::DeleteSessionRequest remove;
    remove.set_session(info.name());
    google::protobuf::Empty empty;
    Check(stub->DeleteSession(&delete_context, remove, &empty), "DeleteSession");
    const auto step_begin = Clock::now();
    Check(stub->Step(&turn_context, step, &response), "Step");
    if (i >= 0) steps.push_back(Since(step_begin));
  }
  std::printf("{\"count\": %d, \"fork_p50_ms\": %.3f, \"fork_p99_ms\": %.3f, \"step_p50_ms\": %.3f}\n", count,
              1e3 * Percentile(forks, 0.5), 1e3 * Percentile(forks, 0.99), 1e3 * Percentile(steps, 0.5));
  return 0;
}

int Main(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words[0];
  if (command == "echo") return Echo();
  if (command == "overhead" && words.size() >= 4)
    return Overhead(std::atoi(words[1].c_str()), words[2], {words.begin() + 3, words.end()});
  if (command == "overload" && words.size() == 5) {
    return Overload(words[1], std::atof(words[2].c_str()), std::atoi(words[3].c_str()), std::atoi(words[4].c_str()));
  }
  if (command == "observe" && words.size() == 4) return ObserveLarge(words[1], words[2], std::atoi(words[3].c_str()));
  if (command == "fork" && words.size() == 4) return Fork(words[1], words[2], std::atoi(words[3].c_str()));
  if (command == "cancel" && words.size() == 6) {
    return load::Cancel(words[1], words[2], std::atoi(words[3].c_str()), std::atoi(words[4].c_str()), std::atof(words[5].c_str()));
  }
  if (command == "search" && words.size() == 5) {
    return load::EndSearch(words[1], words[2], std::atoi(words[3].c_str()), std::atoi(words[4].c_str()));
  }
  std::fprintf(stderr, "usage: see the head of tests/validate/service_load.cc\n");
  return 2;
}

}  // namespace
}  // namespace eipc

int main(int argc, char** argv) { return eipc::Main(std::vector<std::string>(argv + 1, argv + argc)); }
