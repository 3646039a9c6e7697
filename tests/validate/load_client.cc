#include "tests/validate/load_client.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "client/cpp/scene_source.h"

namespace eipc::load {

double Since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())))];
}

std::unique_ptr<Stub> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return v1::SimulationService::NewStub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

void Check(const grpc::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "service_load: %s: %s\n", what, status.error_message().c_str());
  std::exit(2);
}

v1::Scene ReadScene(const std::string& file) {
  const auto source = client::SceneSource::FromFile(file);
  if (!source.ok()) Check(grpc::Status(grpc::StatusCode::NOT_FOUND, std::string(source.status().message())), "scene");
  return source->message();
}

std::string NewSession(Stub* stub, const v1::Scene& scene) {
  v1::CreateSceneRequest create;
  *create.mutable_scene() = scene;
  v1::SceneInfo info;
  grpc::ClientContext scene_context;
  Check(stub->CreateScene(&scene_context, create, &info), "CreateScene");
  v1::CreateSessionRequest request;
  request.set_scene(info.name());
  v1::SessionInfo session;
  grpc::ClientContext session_context;
  Check(stub->CreateSession(&session_context, request, &session), "CreateSession");
  return session.name();
}

v1::StepRequest StepOf(const std::string& session) {
  v1::StepRequest request;
  request.set_session(session);
  request.set_dt_s(0.01);
  return request;
}

}  // namespace eipc::load
