#include "tests/validate/service_cancel.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "tests/conformance/test_scenes.h"
#include "tests/validate/load_client.h"

namespace eipc::load {
namespace {

using Span = std::chrono::duration<double>;

// A session's step holds it until the processor is free again; so a call that wants it waits for just that.
class Victim {
 public:
  Victim(Stub* stub, std::string session) : stub_(stub), session_(std::move(session)), request_(StepOf(session_)) {
    request_.set_dt_s(0.02);
    request_.set_substeps(10000);
  }

  void Reset() {
    v1::ResetRequest request;
    request.set_session(session_);
    v1::Observation observation;
    grpc::ClientContext context;
    Check(stub_->Reset(&context, request, &observation), "Reset");
  }

  // Seconds from cancelling a stream until the session answers.
  double CancelAfter(Span running) {
    grpc::ClientContext context;
    const auto stream = stub_->StepStream(&context);
    if (!stream->Write(request_)) Check(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the stream ended"), "StepStream");
    std::this_thread::sleep_for(running);
    const auto begin = Clock::now();
    context.TryCancel();
    const double seconds = AskSince(begin);
    (void)stream->Finish();
    return seconds;
  }

  // Seconds from a call's deadline until the session answers.
  double LateAfter(Span running) {
    grpc::ClientContext context;
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(running);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::microseconds>(running));
    v1::StepResponse response;
    const grpc::Status status = stub_->Step(&context, request_, &response);
    if (status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) {
      Check(grpc::Status(grpc::StatusCode::UNKNOWN, "the step was not late: " + status.error_message()), "Step");
    }
    return AskSince(deadline);
  }

  int64_t steps() const { return steps_; }

 private:
  double AskSince(Clock::time_point begin) {
    v1::GetStateRequest request;
    request.set_session(session_);
    v1::Observation observation;
    grpc::ClientContext context;
    Check(stub_->GetState(&context, request, &observation), "GetState");
    steps_ += observation.step();
    return Since(begin);
  }

  Stub* stub_;
  std::string session_;
  v1::StepRequest request_;
  int64_t steps_ = 0;
};

void Print(const char* name, const std::vector<double>& seconds) {
  std::printf("\"%s_p50_ms\": %.3f, \"%s_p99_ms\": %.3f, \"%s_max_ms\": %.3f, ", name, 1e3 * Percentile(seconds, 0.5), name,
              1e3 * Percentile(seconds, 0.99), name, 1e3 * *std::max_element(seconds.begin(), seconds.end()));
}

// A scene that takes long to compile, and one that does not.
class Searches {
 public:
  Searches(Stub* stub, const v1::Scene& scene) : stub_(stub) { *request_.mutable_scene() = scene; }

  // Seconds that a whole search takes.
  double Whole() {
    const auto begin = Clock::now();
    grpc::ClientContext context;
    Check(Create(&context), "CreateScene");
    const double seconds = Since(begin);
    Forget();
    return seconds;
  }

  // Seconds from a search's deadline until another scene is compiled; none when the search was over before.
  std::optional<double> EndAfter(Span running) {
    grpc::ClientContext context;
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(running);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::microseconds>(running));
    const grpc::Status status = Create(&context);
    if (status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) {
      Check(status, "CreateScene");
      Forget();
      return std::nullopt;
    }
    v1::CreateSceneRequest other;
    *other.mutable_scene() = testing::FallingBlock();
    other.set_validate_only(true);
    v1::SceneInfo info;
    grpc::ClientContext other_context;
    Check(stub_->CreateScene(&other_context, other, &info), "CreateScene");
    return Since(deadline);
  }

  int Kept() {
    v1::ListScenesResponse response;
    grpc::ClientContext context;
    Check(stub_->ListScenes(&context, v1::ListScenesRequest(), &response), "ListScenes");
    return response.scenes_size();
  }

 private:
  grpc::Status Create(grpc::ClientContext* context) { return stub_->CreateScene(context, request_, &created_); }
  void Forget() {
    v1::DeleteSceneRequest request;
    request.set_name(created_.name());
    google::protobuf::Empty empty;
    grpc::ClientContext context;
    Check(stub_->DeleteScene(&context, request, &empty), "DeleteScene");
  }

  Stub* stub_;
  v1::CreateSceneRequest request_;
  v1::SceneInfo created_;
};

}  // namespace

int EndSearch(const std::string& server, const std::string& scene_file, int count, int seed) {
  const auto stub = Connect(server);
  Searches searches(stub.get(), ReadScene(scene_file));
  const double whole = searches.Whole();
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  std::uniform_real_distribution<double> moment(0.05 * whole, 0.9 * whole);
  std::vector<double> freed;
  while (static_cast<int>(freed.size()) < count) {
    if (const auto seconds = searches.EndAfter(Span(moment(random))); seconds.has_value()) freed.push_back(*seconds);
  }
  std::printf("{");
  Print("freed", freed);
  std::printf("\"whole_ms\": %.1f, \"scenes\": %d, \"count\": %zu}\n", 1e3 * whole, searches.Kept(), freed.size());
  return 0;
}

int Cancel(const std::string& server, const std::string& scene_file, int count, int seed, double window_ms) {
  const auto stub = Connect(server);
  Victim victim(stub.get(), NewSession(stub.get(), ReadScene(scene_file)));
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  std::uniform_real_distribution<double> moment(2, window_ms);  // ms; a call runs after 2
  std::vector<double> cancelled, late;
  for (int i = 0; i < count; ++i) {
    victim.Reset();
    cancelled.push_back(victim.CancelAfter(Span(1e-3 * moment(random))));
    victim.Reset();
    late.push_back(victim.LateAfter(Span(1e-3 * moment(random))));
  }
  std::printf("{");
  Print("cancelled", cancelled);
  Print("late", late);
  std::printf("\"count\": %d, \"steps\": %lld}\n", count, static_cast<long long>(victim.steps()));
  return 0;
}

}  // namespace eipc::load
