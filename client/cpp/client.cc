#include "client/cpp/client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <mutex>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/convert.h"
#include "client/cpp/reset_convert.h"
#include "client/cpp/stacked_convert.h"
#include "eipc/v1/service.grpc.pb.h"

namespace eipc::client {

struct Connection {
  std::unique_ptr<v1::SimulationService::Stub> stub;
  std::chrono::milliseconds call_timeout;
  std::string token;
  std::function<std::vector<std::pair<std::string, std::string>>()> metadata;
  // Of the server, once they are asked for. Sessions in other threads share the connection.
  std::mutex mutex;
  std::set<std::string> capabilities;  // guarded by mutex

  void Identify(grpc::ClientContext* context) const {
    if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
    if (!metadata) return;
    for (const auto& [key, value] : metadata()) context->AddMetadata(key, value);
  }
};

namespace {

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

template <typename Request, typename Response>
absl::Status Call(const Connection& connection,
                  grpc::Status (v1::SimulationService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                  const Request& request, Response* response) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + connection.call_timeout);
  connection.Identify(&context);
  return FromGrpc((connection.stub.get()->*method)(&context, request, response));
}

// UNIMPLEMENTED where the server lacks a capability: it would ignore what a request asks of it.
absl::Status CheckCapability(Connection* connection, const std::string& name) {
  const std::lock_guard<std::mutex> lock(connection->mutex);
  if (connection->capabilities.empty()) {
    v1::ServerInfo info;
    const absl::Status status = Call(*connection, &v1::SimulationService::Stub::GetServerInfo, v1::GetServerInfoRequest(), &info);
    if (!status.ok()) return status;
    connection->capabilities.insert(info.capabilities().begin(), info.capabilities().end());
  }
  if (connection->capabilities.count(name) > 0) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("the server is too old: it lacks the capability ", name));
}

}  // namespace

struct StepStream::Impl {
  Impl(std::shared_ptr<Connection> c, std::string s) : connection(std::move(c)), session(std::move(s)) {
    connection->Identify(&context);
    stream = connection->stub->StepStream(&context);
  }
  ~Impl() {
    if (finished) return;
    context.TryCancel();
    (void)stream->Finish();
  }
  absl::Status End() {
    if (!finished) {
      finished = true;
      status = FromGrpc(stream->Finish());
    }
    return status;
  }

  std::shared_ptr<Connection> connection;
  std::string session;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StepRequest, v1::StepResponse>> stream;
  bool finished = false;
  absl::Status status;
};

StepStream::StepStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StepStream::StepStream(StepStream&&) noexcept = default;
StepStream& StepStream::operator=(StepStream&&) noexcept = default;
StepStream::~StepStream() = default;

absl::Status StepStream::Send(double dt_s, const StepOptions& options) {
  if (!impl_->finished && impl_->stream->Write(StepToProto(impl_->session, dt_s, options))) return absl::OkStatus();
  const absl::Status status = impl_->End();
  return status.ok() ? absl::UnavailableError("the stream has ended") : status;
}

absl::StatusOr<Observation> StepStream::Receive() {
  v1::StepResponse response;
  if (impl_->finished || !impl_->stream->Read(&response)) {
    const absl::Status status = impl_->End();
    return status.ok() ? absl::OutOfRangeError("the stream has ended") : status;
  }
  if (response.status_code() != 0) {
    return absl::Status(static_cast<absl::StatusCode>(response.status_code()), response.status_message());
  }
  return ObservationFromProto(response.observation());
}

absl::StatusOr<Observation> StepStream::Step(double dt_s, const StepOptions& options) {
  const absl::Status sent = Send(dt_s, options);
  if (!sent.ok()) return sent;
  return Receive();
}

absl::Status StepStream::Finish() {
  if (impl_->finished) return impl_->status;
  impl_->stream->WritesDone();
  v1::StepResponse dropped;
  while (impl_->stream->Read(&dropped)) {
  }
  return impl_->End();
}

Session::Session(std::shared_ptr<Connection> connection, std::string name)
    : connection_(std::move(connection)), name_(std::move(name)) {}

absl::StatusOr<Observation> Session::Step(double dt_s, const StepOptions& options) {
  v1::StepResponse response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::Step, StepToProto(name_, dt_s, options), &response);
  if (!status.ok()) return status;
  return ObservationFromProto(response.observation());
}

absl::StatusOr<Observation> Session::Reset(const Observe& observe) { return Reset(ResetOptions{.observe = observe}); }

absl::StatusOr<Observation> Session::Reset(const ResetOptions& options) {
  for (const char* capability : NeededCapabilities(options)) {
    const absl::Status able = CheckCapability(connection_.get(), capability);
    if (!able.ok()) return able;
  }
  v1::Observation response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::Reset, ResetToProto(name_, options), &response);
  if (!status.ok()) return status;
  return ObservationFromProto(response);
}

absl::StatusOr<Observation> Session::GetState(const Observe& observe, int world) {
  v1::GetStateRequest request;
  request.set_session(name_);
  request.set_world(world);
  ObserveToProto(observe, request.mutable_observe());
  v1::Observation response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::GetState, request, &response);
  if (!status.ok()) return status;
  return ObservationFromProto(response);
}

StepStream Session::OpenStream() { return StepStream(std::make_unique<StepStream::Impl>(connection_, name_)); }

absl::StatusOr<std::string> Session::Snapshot(int world) {
  v1::CreateSnapshotRequest request;
  request.set_session(name_);
  request.set_world(world);
  request.set_transient(true);
  v1::SnapshotInfo response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::CreateSnapshot, request, &response);
  if (!status.ok()) return status;
  return response.data();
}

absl::StatusOr<Observation> Session::Restore(const std::string& snapshot, const Observe& observe, int world) {
  v1::RestoreSessionRequest request;
  request.set_session(name_);
  request.set_world(world);
  request.set_snapshot_data(snapshot);
  ObserveToProto(observe, request.mutable_observe());
  v1::Observation response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::RestoreSession, request, &response);
  if (!status.ok()) return status;
  return ObservationFromProto(response);
}

absl::StatusOr<Session> Session::Fork(int worlds, int world) {
  v1::ForkSessionRequest request;
  request.set_session(name_);
  request.set_worlds(worlds);
  request.set_world(world);
  v1::SessionInfo response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::ForkSession, request, &response);
  if (!status.ok()) return status;
  return Session(connection_, response.name());
}

absl::StatusOr<std::vector<absl::StatusOr<Observation>>> Session::StepBatch(double dt_s, const std::vector<StepOptions>& steps) {
  v1::StepBatchRequest request;
  request.set_session(name_);
  for (const StepOptions& step : steps) *request.add_steps() = StepToProto(name_, dt_s, step);
  v1::StepBatchResponse response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::StepBatch, request, &response);
  if (!status.ok()) return status;
  std::vector<absl::StatusOr<Observation>> results;
  for (const v1::StepResponse& one : response.responses()) {
    if (one.status_code() == 0) {
      results.push_back(ObservationFromProto(one.observation()));
    } else {
      results.push_back(absl::Status(static_cast<absl::StatusCode>(one.status_code()), one.status_message()));
    }
  }
  return results;
}

absl::StatusOr<StackedObservations> Session::StepStacked(double dt_s, const std::vector<StepOptions>& steps,
                                                         const StackOptions& stack) {
  const absl::Status able = CheckCapability(connection_.get(), "stacked_batch");
  if (!able.ok()) return able;
  v1::StepBatchResponse response;
  const absl::Status status =
      Call(*connection_, &v1::SimulationService::Stub::StepBatch, StackedBatchToProto(name_, dt_s, steps, stack), &response);
  if (!status.ok()) return status;
  return StackedFromProto(response.stacked(), steps.size(), stack);
}

absl::StatusOr<std::string> Session::Recording() {
  v1::GetRecordingRequest request;
  request.set_session(name_);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + connection_->call_timeout);
  connection_->Identify(&context);
  const auto reader = connection_->stub->GetRecording(&context, request);
  std::string recording;
  v1::DataChunk chunk;
  while (reader->Read(&chunk)) recording += chunk.data();
  const absl::Status status = FromGrpc(reader->Finish());
  if (!status.ok()) return status;
  return recording;
}

absl::Status Session::Delete() {
  v1::DeleteSessionRequest request;
  request.set_session(name_);
  google::protobuf::Empty response;
  return Call(*connection_, &v1::SimulationService::Stub::DeleteSession, request, &response);
}

absl::StatusOr<Client> Client::Connect(const std::string& address, const Options& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  const auto credentials = options.tls_ca.empty()
                               ? grpc::InsecureChannelCredentials()
                               : grpc::SslCredentials({options.tls_ca, options.tls_key, options.tls_certificate});
  auto channel = grpc::CreateCustomChannel(address, credentials, arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + options.connect_timeout)) {
    return absl::UnavailableError(absl::StrCat("no eipc server answers at ", address));
  }
  return FromChannel(std::move(channel), options);
}

Client Client::FromChannel(std::shared_ptr<grpc::Channel> channel, const Options& options) {
  auto connection = std::make_shared<Connection>();
  connection->stub = v1::SimulationService::NewStub(std::move(channel));
  connection->call_timeout = options.call_timeout;
  connection->token = options.token;
  connection->metadata = options.metadata;
  return Client(std::move(connection));
}

absl::StatusOr<SceneInfo> Client::SendScene(const SceneSource& scene, bool validate_only) {
  v1::CreateSceneRequest request;
  *request.mutable_scene() = scene.message();
  request.set_validate_only(validate_only);
  v1::SceneInfo response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::CreateScene, request, &response);
  if (!status.ok()) return status;
  return SceneInfoFromProto(response);
}

absl::StatusOr<SceneInfo> Client::CreateScene(const SceneSource& scene) { return SendScene(scene, false); }
absl::StatusOr<SceneInfo> Client::ValidateScene(const SceneSource& scene) { return SendScene(scene, true); }

absl::StatusOr<SceneInfo> Client::GetScene(const std::string& name) {
  v1::GetSceneRequest request;
  request.set_name(name);
  v1::SceneInfo response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::GetScene, request, &response);
  if (!status.ok()) return status;
  return SceneInfoFromProto(response);
}

absl::StatusOr<std::vector<SceneInfo>> Client::ListScenes() {
  std::vector<SceneInfo> scenes;
  v1::ListScenesRequest request;
  do {
    v1::ListScenesResponse response;
    const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::ListScenes, request, &response);
    if (!status.ok()) return status;
    for (const v1::SceneInfo& info : response.scenes()) scenes.push_back(SceneInfoFromProto(info));
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return scenes;
}

absl::Status Client::DeleteScene(const std::string& name) {
  v1::DeleteSceneRequest request;
  request.set_name(name);
  google::protobuf::Empty response;
  return Call(*connection_, &v1::SimulationService::Stub::DeleteScene, request, &response);
}

absl::StatusOr<Session> Client::CreateSession(const std::string& scene, const SessionOptions& options) {
  v1::CreateSessionRequest request;
  request.set_scene(scene);
  request.set_threads(options.threads);
  request.set_worlds(options.worlds);
  request.set_record(options.record);
  if (!options.snapshot.empty()) request.set_snapshot_data(options.snapshot);
  v1::SessionInfo response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::CreateSession, request, &response);
  if (!status.ok()) return status;
  return Session(connection_, response.name());
}

absl::StatusOr<Session> Client::FindSession(const std::string& name) {
  v1::GetSessionRequest request;
  request.set_session(name);
  v1::SessionInfo response;
  const absl::Status status = Call(*connection_, &v1::SimulationService::Stub::GetSession, request, &response);
  if (!status.ok()) return status;
  return Session(connection_, response.name());
}

}  // namespace eipc::client
