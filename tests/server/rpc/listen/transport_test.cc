// What the listener withstands: callers without credentials, and callers that neither send nor read.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <google/protobuf/empty.pb.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "eipc/v1/service.grpc.pb.h"
#include "server/rpc/listen/grpc_server.h"
#include "server/session/access.h"
#include "standard/health.pb.h"
#include "standard/reflection.pb.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

using testing::FallingBlock;
using ::testing::HasSubstr;
using testing::kSubstepsForHours;
using ::testing::StartsWith;
using Stub = v1::SimulationService::Stub;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr char kService[] = "/eipc.v1.SimulationService/";
constexpr char kWatch[] = "/grpc.health.v1.Health/Watch";
constexpr char kReflect[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

grpc::ByteBuffer Bytes(const google::protobuf::Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

template <typename Message>
Message Parse(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  EXPECT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
  Message message;
  EXPECT_TRUE(message.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
  return message;
}

// A call of any method, step by step.
class RawCall {
 public:
  RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method, const std::string& token = "")
      : stub_(channel) {
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    call_ = stub_.PrepareCall(&context_, method, &queue_);
    call_->StartCall(this);
    Await();
  }
  ~RawCall() {
    context_.TryCancel();
    Finish();
    queue_.Shutdown();
  }
  bool Write(const google::protobuf::Message& message) {
    call_->Write(Bytes(message), this);
    return Await();
  }
  bool Read(grpc::ByteBuffer* bytes) {
    call_->Read(bytes, this);
    return Await();
  }
  grpc::Status Finish() {
    if (finished_) return status_;
    finished_ = true;
    call_->Finish(&status_, this);
    Await();
    return status_;
  }
  void Cancel() { context_.TryCancel(); }

 private:
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool finished_ = false;
  grpc::Status status_;
};

class TransportTest : public ::testing::Test {
 protected:
  TransportTest() {
    char name[] = "/tmp/eipc_transport_XXXXXX";
    folder_ = mkdtemp(name);
    options_.listen = "127.0.0.1:0";
    options_.events = [this](const Event& event) {
      if (event.name != "call") return;
      const std::lock_guard<std::mutex> lock(mutex_);
      ++handled_[event.fields[0].second];
      changed_.notify_all();
    };
  }
  ~TransportTest() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Start() {
    auto server = GrpcServer::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = NewChannel();
    stub_ = v1::SimulationService::NewStub(channel_);
  }
  // With an access file of operators with these tokens.
  void StartFor(const std::vector<std::string>& tokens) {
    options_.access_file = folder_ + "/access";
    std::ofstream file(options_.access_file);
    for (const std::string& token : tokens) file << "token " << Sha256Hex(token) << " " << token << " operator\n";
    file << "cert robot-7 cell operator\n";
    file.close();
    Start();
  }
  std::shared_ptr<grpc::Channel> NewChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetMaxSendMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->address(), grpc::InsecureChannelCredentials(), arguments);
  }
  grpc::Status Info(const std::string& token = "", const std::string& certificate = "") {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    if (!certificate.empty()) context.AddMetadata("x-eipc-client-cert", certificate);
    v1::ServerInfo info;
    return stub_->GetServerInfo(&context, {}, &info);
  }
  std::string NewSession() {
    grpc::ClientContext first, second;
    v1::CreateSceneRequest scene;
    *scene.mutable_scene() = FallingBlock();
    v1::SceneInfo info;
    EXPECT_TRUE(stub_->CreateScene(&first, scene, &info).ok());
    v1::CreateSessionRequest request;
    request.set_scene(info.name());
    v1::SessionInfo session;
    EXPECT_TRUE(stub_->CreateSession(&second, request, &session).ok());
    return session.name();
  }
  // A session of the token's tenant whose state takes some 20 KiB, and the request for it.
  v1::GetStateRequest NewSlab(const std::string& token) {
    grpc::ClientContext first, second;
    for (grpc::ClientContext* context : {&first, &second}) context->AddMetadata("authorization", "Bearer " + token);
    v1::CreateSceneRequest scene;
    *scene.mutable_scene() = testing::BlockOnTable();
    scene.mutable_scene()->clear_bodies();
    v1::Body& body = *scene.mutable_scene()->add_bodies();
    body.set_name("slab");
    *body.mutable_static_body()->mutable_surface() = testing::BlockMesh(12, 0.1);
    v1::SceneInfo info;
    const grpc::Status made = stub_->CreateScene(&first, scene, &info);
    EXPECT_TRUE(made.ok()) << made.error_message();
    v1::CreateSessionRequest request;
    request.set_scene(info.name());
    v1::SessionInfo session;
    EXPECT_TRUE(stub_->CreateSession(&second, request, &session).ok());
    v1::GetStateRequest state;
    state.set_session(session.name());
    state.mutable_observe()->set_surface_positions(true);
    return state;
  }
  grpc::Status GetState(const std::string& token, const v1::GetStateRequest& request) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    v1::Observation observation;
    return stub_->GetState(&context, request, &observation);
  }
  // False when it takes too long: a limit for a test that fails, no measurement.
  bool AwaitHandled(const std::string& method, int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return handled_[method] >= count; });
  }

  GrpcServerOptions options_;
  std::string folder_;
  std::unique_ptr<GrpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Stub> stub_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> handled_;  // guarded by mutex_
};

// The answer comes although the message never does.
TEST_F(TransportTest, CredentialsComeBeforeTheMessage) {
  StartFor({"lab"});
  for (const char* method : {"CreateScene", "Step", "StepStream", "UploadMesh", "GetRecording"}) {
    RawCall nobody(channel_, std::string(kService) + method);
    EXPECT_EQ(nobody.Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED) << method;
    RawCall wrong(channel_, std::string(kService) + method, "wrong");
    EXPECT_EQ(wrong.Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED) << method;
  }
  EXPECT_EQ(RawCall(channel_, kReflect).Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(RawCall(channel_, kWatch).Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(RawCall(channel_, "/no.such/Method", "lab").Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(Info("lab").ok());
}

TEST_F(TransportTest, CompressedMessagesAreRefused) {
  Start();
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  v1::CreateSceneRequest request;
  request.mutable_scene()->set_description(std::string(1 << 20, 'x'));
  v1::SceneInfo info;
  EXPECT_EQ(stub_->CreateScene(&context, request, &info).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(Info().ok());
}

TEST_F(TransportTest, TheProxyNamesCallersOverTheUnixSocketOnly) {
  StartFor({"lab"});
  EXPECT_EQ(Info("", "robot-7").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  server_.reset();
  options_.listen = "unix:" + folder_ + "/socket/grpc";
  Start();
  EXPECT_TRUE(Info("", "robot-7").ok());
  EXPECT_TRUE(Info("lab", "robot-8").ok()) << "a token counts everywhere";
  EXPECT_EQ(Info("", "robot-8").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Info().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  // A client that adds a name of its own to the proxy's.
  grpc::ClientContext context;
  context.AddMetadata("x-eipc-client-cert", "robot-7");
  context.AddMetadata("x-eipc-client-cert", "robot-8");
  v1::ServerInfo info;
  EXPECT_EQ(stub_->GetServerInfo(&context, {}, &info).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(TransportTest, StreamsThatSayNothingHoldNoThreads) {
  options_.limits.max_calls = 4;
  Start();
  std::vector<std::unique_ptr<RawCall>> idle;
  for (int i = 0; i < 20; ++i) {
    for (const std::string& method : {std::string(kReflect), std::string(kService) + "StepStream"}) {
      idle.push_back(std::make_unique<RawCall>(channel_, method));
    }
  }
  EXPECT_TRUE(Info().ok());
  v1::StepRequest request;
  request.set_session("sessions/none");
  grpc::ByteBuffer bytes;
  EXPECT_TRUE(idle.back()->Write(request) && idle.back()->Read(&bytes)) << "each of them is answered when it says something";
  EXPECT_EQ(Parse<v1::StepResponse>(bytes).status_code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
}

TEST_F(TransportTest, StreamsHaveABoundOfTheirOwn) {
  options_.limits.max_streams = 4;
  StartFor({"lab", "fab"});
  const std::string method = std::string(kService) + "StepStream";
  std::vector<std::unique_ptr<RawCall>> idle;
  for (int i = 0; i < 2; ++i) {
    idle.push_back(std::make_unique<RawCall>(channel_, method, "lab"));
    grpc::ByteBuffer bytes;
    ASSERT_TRUE(idle.back()->Write(v1::StepRequest()) && idle.back()->Read(&bytes));
  }
  const grpc::Status refused = RawCall(channel_, method, "lab").Finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), StartsWith("TOO_MANY_STREAMS: "));
  RawCall other(channel_, method, "fab");
  grpc::ByteBuffer bytes;
  EXPECT_TRUE(other.Write(v1::StepRequest()) && other.Read(&bytes)) << "a tenant has half of them";
  EXPECT_TRUE(Info("lab").ok());
}

// Repeats a call that meets too many others at the same moment; those that hold their places for good make it fail.
grpc::Status WhenThereIsRoom(const std::function<grpc::Status(grpc::ClientContext*)>& call) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (true) {
    grpc::ClientContext context;
    grpc::Status status = call(&context);
    if (status.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED || std::chrono::steady_clock::now() > end) return status;
  }
}

// Clients that wait for an operation hold neither threads nor places.
TEST_F(TransportTest, WaitingForAnOperationHoldsNoCalls) {
  options_.limits.max_calls = 4;
  options_.limits.max_substeps = kSubstepsForHours;
  Start();
  v1::StepBatchRequest batch;
  batch.set_session(NewSession());
  v1::StepRequest& step = *batch.add_steps();
  step.set_dt_s(0.0001);
  step.set_substeps(kSubstepsForHours);
  grpc::ClientContext context;
  v1::Operation operation;
  ASSERT_TRUE(stub_->StartStepBatch(&context, batch, &operation).ok());
  std::vector<std::thread> waiters;
  std::atomic<int> done = 0;
  for (int i = 0; i < 12; ++i) {
    waiters.emplace_back([&, name = operation.name()] {
      v1::GetOperationRequest request;
      request.set_name(name);
      request.set_wait_s(500);
      v1::Operation found;
      const auto wait = [&](grpc::ClientContext* waiting) { return stub_->GetOperation(waiting, request, &found); };
      EXPECT_TRUE(WhenThereIsRoom(wait).ok());
      if (found.done()) ++done;
    });
  }
  v1::ServerInfo info;
  const auto ask = [&](grpc::ClientContext* asking) { return stub_->GetServerInfo(asking, {}, &info); };
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(WhenThereIsRoom(ask).ok());
  v1::CancelOperationRequest request;
  request.set_name(operation.name());
  const auto cancel = [&](grpc::ClientContext* cancelling) { return stub_->CancelOperation(cancelling, request, &operation); };
  EXPECT_TRUE(WhenThereIsRoom(cancel).ok());
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(done, 12);
}

// Refused batches wait for their answer without holding threads or places, and end when they are cancelled.
TEST_F(TransportTest, RefusedBatchesHoldNoCalls) {
  options_.limits.max_calls = 4;
  options_.limits.solve_slots = 1;
  options_.limits.max_waiting_solves = 0;
  options_.limits.refusal_pause_ms = 3'600'000;
  options_.limits.max_substeps = kSubstepsForHours;
  Start();
  v1::StepRequest request;
  request.set_session(NewSession());
  request.set_dt_s(0.0001);
  v1::StepBatchRequest endless;
  endless.set_session(NewSession());
  v1::StepRequest& step = *endless.add_steps();
  step.set_dt_s(0.0001);
  step.set_substeps(kSubstepsForHours);
  // An operation that comes while a step has the slot is refused: then another one is begun.
  v1::Operation operation;
  operation.set_done(true);
  const auto is_over = [&] {
    grpc::ClientContext asking;
    v1::GetOperationRequest which;
    which.set_name(operation.name());
    return operation.done() || (stub_->GetOperation(&asking, which, &operation).ok() && operation.done());
  };
  const auto keep_busy = [&] {
    grpc::ClientContext beginning;
    if (is_over()) {
      ASSERT_TRUE(stub_->StartStepBatch(&beginning, endless, &operation).ok());
    }
  };
  // A step that was refused waits for its answer beyond its deadline; so may one on a busy machine, and then the operation is over.
  const auto slot_is_free = [&] {
    grpc::ClientContext trying;
    trying.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    v1::StepResponse stepped;
    return stub_->Step(&trying, request, &stepped).ok();
  };
  do {
    ASSERT_NO_FATAL_FAILURE(keep_busy());
  } while (slot_is_free() || is_over());
  v1::StepBatchRequest refused;
  refused.set_session(request.session());
  refused.add_steps()->set_dt_s(0.0001);
  std::vector<std::unique_ptr<RawCall>> waiting;
  for (int i = 0; i < options_.limits.max_calls; ++i) {
    waiting.push_back(std::make_unique<RawCall>(channel_, std::string(kService) + "StepBatch"));
    ASSERT_TRUE(waiting.back()->Write(refused));
  }
  v1::ServerInfo info;
  const auto ask = [&](grpc::ClientContext* asking) { return stub_->GetServerInfo(asking, {}, &info); };
  EXPECT_TRUE(WhenThereIsRoom(ask).ok());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_EQ(handled_["StepBatch"], 0) << "the batches still wait for their answers";
  }
  waiting.clear();
  EXPECT_TRUE(AwaitHandled("StepBatch", options_.limits.max_calls));
}

TEST_F(TransportTest, ACallWithoutItsMessageEnds) {
  options_.message_timeout = std::chrono::milliseconds(100);
  Start();
  for (const char* method : {"CreateScene", "Step", "UploadMesh", "GetRecording"}) {
    EXPECT_EQ(RawCall(channel_, std::string(kService) + method).Finish().error_code(), grpc::StatusCode::CANCELLED) << method;
  }
  EXPECT_EQ(RawCall(channel_, kWatch).Finish().error_code(), grpc::StatusCode::CANCELLED);
}

// A frame of HTTP/2.
std::string Frame(uint8_t kind, uint8_t flags, uint32_t stream, const std::string& payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  std::string frame;
  for (const uint32_t byte :
       {size >> 16, size >> 8, size, uint32_t{kind}, uint32_t{flags}, stream >> 24, stream >> 16, stream >> 8, stream}) {
    frame += static_cast<char>(byte & 0xff);
  }
  return frame + payload;
}

// The beginning of a call, as HPACK literals.
std::string CallHeaders(const std::string& path, const std::string& token) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {":method", "POST"}, {":scheme", "http"}, {":path", path}, {":authority", "localhost"}, {"content-type", "application/grpc"},
      {"te", "trailers"}};
  if (!token.empty()) headers.emplace_back("authorization", "Bearer " + token);
  std::string block;
  for (const auto& [name, value] : headers) {
    block += '\0';
    for (const std::string& word : {name, value}) block += static_cast<char>(word.size()) + word;
  }
  return block;
}

// A connection that takes no answers: its windows are closed.
class DeafClient {
 public:
  explicit DeafClient(const std::string& address) : file_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    there.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_EQ(connect(file_, reinterpret_cast<sockaddr*>(&there), sizeof(there)), 0);
    // SETTINGS_INITIAL_WINDOW_SIZE = 0
    Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0, std::string("\0\4\0\0\0\0", 6)) + Frame(4, 1, 0, ""));
  }
  ~DeafClient() { close(file_); }
  // Calls, without credentials where there is no token.
  void Ask(const std::string& path, const google::protobuf::Message& message, const std::string& token = "") {
    const uint32_t stream = 2 * asked_++ + 1;
    const std::string bytes = message.SerializeAsString();
    ASSERT_LT(bytes.size(), 256U);
    Send(Frame(1, 4, stream, CallHeaders(path, token)) +
         Frame(0, 1, stream, std::string(4, '\0') + static_cast<char>(bytes.size()) + bytes));
  }

 private:
  void Send(const std::string& words) {
    EXPECT_EQ(send(file_, words.data(), words.size(), MSG_NOSIGNAL), static_cast<ssize_t>(words.size()));
  }
  const int file_;
  uint32_t asked_ = 0;
};

TEST_F(TransportTest, UnreadAnswersHoldNoCalls) {
  options_.limits.max_calls = 4;
  options_.write_timeout = std::chrono::hours(1);
  Start();
  DeafClient deaf(server_->address());
  for (int i = 0; i < 12; ++i) {
    deaf.Ask(std::string(kService) + "GetServerInfo", google::protobuf::Empty());
    ASSERT_TRUE(AwaitHandled("GetServerInfo", i + 1)) << "call " << i << " waits for those before it";
  }
  EXPECT_TRUE(Info().ok());
}

// Answers that are large: clients that do not read them cost their own tenant further ones, and the others nothing.
TEST_F(TransportTest, UnreadAnswersAreBounded) {
  options_.limits.memory_bytes = int64_t{64} << 20;
  options_.write_timeout = std::chrono::hours(1);
  StartFor({"deaf", "other"});
  const v1::GetStateRequest asked = NewSlab("deaf"), others = NewSlab("other");
  std::vector<std::unique_ptr<DeafClient>> clients;
  grpc::Status answered;
  for (int i = 0; i < 1200 && answered.ok(); ++i) {
    if (i % 100 == 0) clients.push_back(std::make_unique<DeafClient>(server_->address()));
    clients.back()->Ask(std::string(kService) + "GetState", asked, "deaf");
    ASSERT_TRUE(AwaitHandled("GetState", 2 * i + 1));
    answered = GetState("deaf", asked);
    ASSERT_TRUE(AwaitHandled("GetState", 2 * i + 2));
  }
  EXPECT_EQ(answered.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(answered.error_message(), StartsWith("UNREAD_ANSWERS: "));
  EXPECT_TRUE(GetState("other", others).ok());
}

TEST_F(TransportTest, HealthIsToldAndWatched) {
  Start();
  HealthCheckRequest request;
  const auto check = [&](const std::string& service, HealthCheckResponse* response) {
    RawCall call(channel_, "/grpc.health.v1.Health/Check");
    request.set_service(service);
    grpc::ByteBuffer bytes;
    if (call.Write(request) && call.Read(&bytes)) *response = Parse<HealthCheckResponse>(bytes);
    return call.Finish();
  };
  HealthCheckResponse response;
  for (const char* service : {"", "eipc.v1.SimulationService", "liveness"}) {
    ASSERT_TRUE(check(service, &response).ok());
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << service;
  }
  EXPECT_EQ(check("sofa", &response).error_code(), grpc::StatusCode::NOT_FOUND);

  RawCall watch(channel_, kWatch), unknown(channel_, kWatch);
  grpc::ByteBuffer bytes;
  request.set_service("sofa");
  ASSERT_TRUE(unknown.Write(request) && unknown.Read(&bytes));
  EXPECT_EQ(Parse<HealthCheckResponse>(bytes).status(), HealthCheckResponse::SERVICE_UNKNOWN);
  request.set_service("");
  ASSERT_TRUE(watch.Write(request) && watch.Read(&bytes));
  EXPECT_EQ(Parse<HealthCheckResponse>(bytes).status(), HealthCheckResponse::SERVING);
  std::thread drain([&] { server_->Drain(std::chrono::hours(1)); });
  EXPECT_TRUE(watch.Read(&bytes));
  EXPECT_EQ(Parse<HealthCheckResponse>(bytes).status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(watch.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(unknown.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  drain.join();
}

TEST_F(TransportTest, HealthChecksAreOpenUnlessClosed) {
  const auto check = [&] {
    RawCall call(channel_, "/grpc.health.v1.Health/Check");
    grpc::ByteBuffer bytes;
    if (call.Write(HealthCheckRequest())) call.Read(&bytes);
    return call.Finish().error_code();
  };
  StartFor({"lab"});
  EXPECT_EQ(check(), grpc::StatusCode::OK);
  server_.reset();
  options_.open_health = false;
  Start();
  EXPECT_EQ(check(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(TransportTest, ReflectionDescribesTheServices) {
  using grpc::reflection::v1alpha::ServerReflectionRequest;
  using grpc::reflection::v1alpha::ServerReflectionResponse;
  Start();
  RawCall call(channel_, kReflect);
  const auto ask = [&](const ServerReflectionRequest& request) {
    grpc::ByteBuffer bytes;
    EXPECT_TRUE(call.Write(request) && call.Read(&bytes));
    return Parse<ServerReflectionResponse>(bytes);
  };
  ServerReflectionRequest request;
  request.set_list_services("*");
  EXPECT_EQ(ask(request).list_services_response().service_size(), 3);
  request.set_file_containing_symbol("eipc.v1.SimulationService");
  const ServerReflectionResponse found = ask(request);
  ASSERT_GE(found.file_descriptor_response().file_descriptor_proto_size(), 4) << "with the files that it needs";
  EXPECT_THAT(found.file_descriptor_response().file_descriptor_proto(0), HasSubstr("eipc/v1/service.proto"));
  request.set_file_containing_symbol("sofa");
  EXPECT_EQ(ask(request).error_response().error_code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
  server_.reset();
  options_.reflection = false;
  Start();
  EXPECT_EQ(RawCall(channel_, kReflect).Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

// Calls of all kinds that are cancelled at every moment, by clients that vanish, while the server stops: found under the address
// sanitizer if anything outlives its call.
TEST_F(TransportTest, SurvivesCallsThatEndAtAnyMoment) {
  options_.limits.max_calls = 8;
  options_.limits.max_streams = 16;
  Start();
  const std::string session = NewSession();
  std::atomic<bool> stop = false;
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      std::mt19937 random(c);
      v1::StepRequest step;
      step.set_session(session);
      step.set_dt_s(0.001);
      while (!stop) {
        const auto channel = NewChannel();
        std::vector<std::unique_ptr<RawCall>> calls;
        for (int i = 0; i < 12; ++i) {
          const char* names[] = {"StepStream", "Step", "GetServerInfo", "UploadMesh", "GetRecording", "GetOperation"};
          const int kind = static_cast<int>(random() % 8);
          calls.push_back(std::make_unique<RawCall>(channel, kind == 6   ? std::string(kWatch)
                                                             : kind == 7 ? std::string(kReflect)
                                                                         : std::string(kService) + names[kind]));
          if (random() % 4 != 0) calls.back()->Write(step);
          if (random() % 4 == 0) calls.back()->Cancel();
          grpc::ByteBuffer bytes;
          if (random() % 4 == 0 && kind < 3) calls.back()->Cancel(), calls.back()->Read(&bytes);
        }
      }
    });
  }
  ASSERT_TRUE(AwaitHandled("Step", 100));
  server_->Drain(std::chrono::milliseconds(100));
  stop = true;
  for (std::thread& client : clients) client.join();
}

}  // namespace
}  // namespace eipc::rpc
