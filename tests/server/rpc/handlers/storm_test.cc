// Many snapshots torn, many calls malformed, many sessions replayed and forked. `./dev test` runs a little of each; `./dev validate
// service` a lot (EIPC_STORM_SNAPSHOTS, EIPC_STORM_CALLS, EIPC_STORM_REPLAYS), and reads the lines `FIGURE name value`.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/reason.h"
#include "server/session/recover.h"
#include "server/session/snapshot.h"
#include "sim/dynamics/state_codec.h"
#include "tests/conformance/scribbler.h"
#include "tests/conformance/test_scenes.h"
#include "tests/server/rpc/handlers/must.h"

namespace eipc::rpc {
namespace {

using testing::Scribbler;
using Engine = Scribbler::Engine;

int64_t Count(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

void Figure(const char* name, int64_t value) { std::printf("FIGURE %s %ld\n", name, static_cast<long>(value)); }

class Storm : public ::testing::Test {
 protected:
  static ServerLimits Limits() {
    ServerLimits limits;
    limits.max_sessions = 16;
    limits.max_scenes = 16;
    limits.max_snapshots = 32;
    limits.max_worlds_per_session = 4;
    limits.max_substeps = 20;
    limits.max_recording_bytes = 1 << 20;
    limits.max_scene_vertices = 20'000;
    limits.max_operations = 8;
    limits.memory_bytes = 512 << 20;
    return limits;
  }
  Storm() : services_(Limits(), MeshResolver({"", "", true})) {
    google::protobuf::SetLogHandler(nullptr);  // bytes that are no message are logged at length
  }

  std::string NewSession(const v1::Scene& scene, int threads, bool record = false) {
    v1::CreateSceneRequest create;
    *create.mutable_scene() = scene;
    v1::CreateSessionRequest request;
    request.set_scene(Must(services_, CreateScene, create).name());
    request.set_threads(threads);
    request.set_record(record);
    return Must(services_, CreateSession, request).name();
  }
  void Delete(const std::string& session) {
    v1::DeleteSessionRequest request;
    request.set_session(session);
    Must(services_, DeleteSession, request);
  }

  Services services_;
};

TEST_F(Storm, NoTornOrFlippedSnapshotIsTaken) {
  const int64_t wanted = Count("EIPC_STORM_SNAPSHOTS", 5000);
  const std::string session = NewSession(testing::BlockOnTable(), 1);
  v1::StepRequest step;
  step.set_session(session);
  step.set_dt_s(0.01);
  step.set_substeps(20);
  Must(services_, Step, step);
  const auto lease = services_.sessions.Acquire(session, {});
  const StoredScene& scene = (*lease)->scene();
  const std::string whole = PackSnapshot(scene.name, (*lease)->world().state(), *scene.model);
  Engine random(20260101);
  int64_t refused = 0;
  for (int64_t i = 0; i < wanted; ++i) {
    std::string bytes = whole;
    if (i % 2 == 0) {
      bytes.resize(random() % whole.size());
      if (i % 4 == 0) bytes.resize(whole.size(), static_cast<char>(random()));  // as a file whose end was never written
    } else {
      const int flips = 1 + static_cast<int>(random() % 8);
      for (int k = 0; k < flips; ++k) bytes[random() % bytes.size()] ^= static_cast<char>(1 << (random() % 8));
    }
    if (bytes == whole) bytes.front() ^= 1;  // chance wrote what was there before
    const auto state = UnpackForeignSnapshot(bytes, scene.name, *scene.model);
    refused += state.ok() ? 0 : 1;
    ASSERT_FALSE(state.ok()) << i;
  }
  EXPECT_EQ(refused, wanted);
  Figure("torn_snapshots_refused", refused);
}

// Random driven motions: replayed from their recording, and forked at half of their steps, with one thread and with two.
TEST_F(Storm, EveryReplayAndForkGivesTheSameBits) {
  const int64_t wanted = Count("EIPC_STORM_REPLAYS", 20);
  int64_t replayed = 0, forked = 0;
  for (int64_t i = 0; i < wanted; ++i) {
    Engine random(1000 + i);
    std::uniform_real_distribution<double> unit(-1, 1);
    const int threads = 1 + static_cast<int>(i % 2);
    const bool driven = i % 3 == 0;
    const std::string session = NewSession(driven ? testing::DrivenBlock() : testing::BlockOnTable(), threads, true);
    const auto step = [&](const std::string& name, int index) {
      v1::StepRequest request;
      request.set_session(name);
      request.set_dt_s(0.005);
      request.set_substeps(1 + static_cast<int>(random() % 3));
      request.mutable_observe()->set_state_digest(true);
      if (driven && index % 2 == 0) {
        v1::TargetPose& target = *request.add_targets();
        target.set_body("block");
        target.set_boundary_set("top");
        target.mutable_pose()->mutable_position_m()->set_x(0.005 * unit(random));
        target.mutable_pose()->mutable_position_m()->set_z(0.005 * unit(random));
      }
      return Must(services_, Step, request).observation().state_digest();
    };
    for (int k = 0; k < 5; ++k) step(session, k);
    v1::ForkSessionRequest fork;
    fork.set_session(session);
    fork.set_threads(3 - threads);
    const std::string copy = Must(services_, ForkSession, fork).name();
    const Engine seed = random;
    std::string original;
    for (int k = 5; k < 10; ++k) original = step(session, k);
    random = seed;
    std::string other;
    for (int k = 5; k < 10; ++k) other = step(copy, k);
    forked += original == other ? 1 : 0;
    {
      const auto lease = services_.sessions.Acquire(session, {});
      const auto recording = (*lease)->log()->Recording();
      ASSERT_TRUE(recording.ok());
      const auto again = RecoverSession(*services_.scenes.PinScene((*lease)->scene_name()), *recording);
      ASSERT_TRUE(again.ok()) << again.status();
      replayed += again->session->world().state().Digest() == original ? 1 : 0;
    }
    Delete(session);
    Delete(copy);
  }
  EXPECT_EQ(replayed, wanted);
  EXPECT_EQ(forked, wanted);
  Figure("replays_bit_exact", replayed);
  Figure("forks_bit_exact", forked);
}

class CallStorm : public Storm {
 protected:
  // One call with a scribbled request; what it answers is checked and counted.
  template <typename Request, typename Response>
  std::function<void()> Shoot(absl::Status (*call)(Services&, const CallContext&, const Request&, Response*)) {
    return [this, call] {
      Request request;
      Scribble(&request);
      Response response;
      Note(call(services_, Context(), request, &response));
      Harvest(response);
    };
  }
  // A shot for every call of the service, by its name.
  std::map<std::string, std::function<void()>> Shots() {
    return {{"GetServerInfo", Shoot(GetServerInfo)},
            {"CreateScene", Shoot(CreateScene)},
            {"GetScene", Shoot(GetScene)},
            {"ListScenes", Shoot(ListScenes)},
            {"DeleteScene", Shoot(DeleteScene)},
            {"CreateSession", Shoot(CreateSession)},
            {"ForkSession", Shoot(ForkSession)},
            {"GetSession", Shoot(GetSession)},
            {"ListSessions", Shoot(ListSessions)},
            {"Reset", Shoot(Reset)},
            {"RestoreSession", Shoot(RestoreSession)},
            {"Step", Shoot(Step)},
            {"StepStream", [this] { ShootStream(); }},
            {"StepBatch", Shoot(StepBatch)},
            {"GetState", Shoot(GetState)},
            {"DeleteSession", Shoot(DeleteSession)},
            {"CreateSnapshot", Shoot(CreateSnapshot)},
            {"GetSnapshot", Shoot(GetSnapshot)},
            {"ListSnapshots", Shoot(ListSnapshots)},
            {"DeleteSnapshot", Shoot(DeleteSnapshot)},
            {"GetRecording", [this] { ShootRecording(); }},
            {"UploadMesh", [this] { ShootUpload(); }},
            {"StartCreateScene", Shoot(StartCreateScene)},
            {"StartPrepareMesh", Shoot(StartPrepareMesh)},
            {"StartStepBatch", Shoot(StartStepBatch)},
            {"GetOperation", [this] { ShootGetOperation(); }},
            {"ListOperations", Shoot(ListOperations)},
            {"CancelOperation", Shoot(CancelOperation)},
            {"DeleteOperation", Shoot(DeleteOperation)}};
  }
  void ShootStream() {
    for (auto left = random_() % 4; left > 0; --left) {
      v1::StepRequest request;
      Scribble(&request);
      v1::StepResponse response;
      AnswerStep(services_, Context(), request, &response);
      Note(absl::Status(static_cast<absl::StatusCode>(response.status_code()), response.status_message()));
    }
  }
  void ShootRecording() {
    v1::GetRecordingRequest request;
    Scribble(&request);
    const auto recording = GetRecording(services_, Context(), request);
    v1::DataChunk piece;
    while (recording.ok() && NextPiece(recording->bytes, &piece)) continue;
    Note(recording.status());
  }
  void ShootUpload() {
    MeshUpload upload(&services_, Context().tenant);
    absl::Status status;
    for (auto left = random_() % 4; left > 0 && status.ok(); --left) {
      v1::UploadMeshRequest request;
      Scribble(&request);
      status = upload.Add(request);
    }
    v1::MeshInfo info;
    Note(status.ok() ? upload.Finish(&info) : status);
  }
  // Does not wait as long as a request may ask for.
  void ShootGetOperation() {
    v1::GetOperationRequest request;
    Scribble(&request);
    CallContext context = Context();
    context.budget.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    v1::Operation operation;
    Note(GetOperation(services_, context, request, &operation));
  }
  v1::Scene SoundScene() {
    switch (random_() % 3) {
      case 0:
        return testing::BlockOnTable();
      case 1:
        return testing::DrivenBlock();
      default:
        return testing::Assembly();
    }
  }
  void Scribble(v1::CreateSceneRequest* request) {
    // Mostly a sound scene with something wrong in it.
    *request->mutable_scene() = SoundScene();
    Scribbler scribbler(&random_, &names_);
    if (random_() % 8 == 0) {
      request->Clear();
      scribbler.Fill(request);
    } else if (random_() % 4 != 0) {
      scribbler.MutateOneField(request->mutable_scene());
    }
    request->set_validate_only(random_() % 4 != 0);
  }
  template <typename Request>
  void Scribble(Request* request) {
    Scribbler(&random_, &names_).Fill(request);
    // Bytes that were changed in transit, as long as they still are a message.
    if (random_() % 8 == 0) {
      std::string bytes = request->SerializeAsString();
      if (!bytes.empty()) bytes[random_() % bytes.size()] ^= static_cast<char>(1 << (random_() % 8));
      Request changed;
      if (changed.ParseFromString(bytes)) *request = changed;
    }
  }
  CallContext Context() {
    CallContext context;
    context.tenant = random_() % 16 == 0 ? "other" : "";
    return context;
  }
  void Note(const absl::Status& status) {
    ++calls_;
    const absl::Status wire = ForWire(status);
    ++codes_[wire.code()];
    // A fault of the caller is never called a fault of the server.
    EXPECT_NE(wire.code(), absl::StatusCode::kInternal) << wire;
    EXPECT_NE(wire.code(), absl::StatusCode::kUnknown) << wire;
    EXPECT_NE(wire.code(), absl::StatusCode::kDataLoss) << wire;
    if (!wire.ok()) {
      EXPECT_GT(wire.message().find(": "), 0u) << wire;
    }
  }
  template <typename Response>
  void Harvest(const Response&) {}
  void Harvest(const v1::SceneInfo& info) { Know(info.name()); }
  void Harvest(const v1::SessionInfo& info) { Know(info.name()); }
  void Harvest(const v1::SnapshotInfo& info) { Know(info.name()); }
  void Harvest(const v1::Operation& info) { Know(info.name()); }
  void Know(const std::string& name) {
    if (name.empty()) return;
    if (names_.size() < 40) {
      names_.push_back(name);
    } else {
      names_[10 + random_() % 30] = name;
    }
  }

  Engine random_{static_cast<Engine::result_type>(Count("EIPC_STORM_SEED", 20260202))};
  std::vector<std::string> names_ = {"block", "table", "top", "plate", "nope", "link0", "tool", "soft", "sheet", "hinge"};
  std::map<absl::StatusCode, int64_t> codes_;
  int64_t calls_ = 0;
};

// All of it is reached only where the scene as it stands is taken.
TEST_F(CallStorm, EverySceneIsSoundBeforeItIsChanged) {
  for (const v1::Scene& scene : {testing::BlockOnTable(), testing::DrivenBlock(), testing::Assembly()}) {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = scene;
    v1::SceneInfo info;
    EXPECT_EQ(CreateScene(services_, {}, request, &info), absl::OkStatus()) << scene.display_name();
  }
}

TEST_F(CallStorm, NoMalformedCallOrOrderOfCallsBreaksTheServer) {
  const int64_t wanted = Count("EIPC_STORM_CALLS", 20'000);
  const std::map<std::string, std::function<void()>> shots = Shots();
  std::vector<std::string> methods;
  const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName("eipc.v1.SimulationService");
  for (int i = 0; i < service->method_count(); ++i) {
    methods.push_back(service->method(i)->name());
    ASSERT_TRUE(shots.contains(methods.back())) << methods.back() << " is not in the storm";
  }
  // Twice as often: what later calls act on.
  methods.insert(methods.end(), {"CreateSession", "Step", "Step"});
  // Something that works among it all, so that later calls find sessions to act on.
  const auto make = [this] {
    v1::CreateSessionRequest request;
    v1::CreateSceneRequest scene;
    *scene.mutable_scene() = SoundScene();
    v1::SceneInfo info;
    if (!CreateScene(services_, {}, scene, &info).ok()) return;
    Know(info.name());
    request.set_scene(info.name());
    request.set_worlds(1 + static_cast<int>(random_() % 3));
    request.set_record(random_() % 2 == 0);
    v1::SessionInfo session;
    if (CreateSession(services_, {}, request, &session).ok()) Know(session.name());
  };
  while (calls_ < wanted) {
    if (calls_ % 200 == 0) make();
    shots.at(methods[random_() % methods.size()])();
    if (HasFailure()) break;
  }
  Figure("malformed_calls", calls_);
  for (const auto& [code, count] : codes_) {
    std::printf("FIGURE malformed_%s %ld\n", absl::StatusCodeToString(code).c_str(), static_cast<long>(count));
  }
  // The storm reached the code behind the checks, too.
  EXPECT_GT(codes_[absl::StatusCode::kOk], calls_ / 100);
  EXPECT_GT(codes_[absl::StatusCode::kInvalidArgument], calls_ / 100);
  EXPECT_GT(codes_[absl::StatusCode::kNotFound], calls_ / 100);
}

}  // namespace
}  // namespace eipc::rpc
