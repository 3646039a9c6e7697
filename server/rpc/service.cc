#include "server/rpc/service.h"

#include <grpcpp/server_context.h>

#include <chrono>
#include <exception>
#include <new>
#include <string>

#include "eipc/v1/service.grpc.pb.h"
#include "server/rpc/calls.h"
#include "server/rpc/reason.h"
#include "server/rpc/stream_set.h"

namespace eipc::rpc {
namespace {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const absl::Status wire = ForWire(status);
  // The code numbers are the same by definition.
  return grpc::Status(static_cast<grpc::StatusCode>(wire.code()), std::string(wire.message()));
}

StepBudget BudgetOf(grpc::ServerContext* context) {
  StepBudget budget;
  const std::chrono::system_clock::time_point deadline = context->deadline();
  const auto now = std::chrono::system_clock::now();
  // A call without a deadline has one in the far future, which the steady clock may not reach.
  if (deadline - now < std::chrono::hours(24 * 365)) budget.deadline = std::chrono::steady_clock::now() + (deadline - now);
  budget.cancelled = [context] { return context->IsCancelled(); };
  return budget;
}

// Runs a call's body; memory that runs out is the caller's answer, not the server's end.
template <typename Body>
grpc::Status Guarded(Body&& body) {
  try {
    return ToGrpc(body());
  } catch (const std::bad_alloc&) {
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "OUT_OF_MEMORY: not enough memory for this call");
  } catch (const std::exception& error) {
    return grpc::Status(grpc::StatusCode::INTERNAL, std::string("INTERNAL: ") + error.what());
  }
}

class SimulationService final : public v1::SimulationService::Service {
 public:
  SimulationService(Services* services, StreamSet* streams) : services_(*services), streams_(streams) {}

  grpc::Status CreateScene(grpc::ServerContext* context, const v1::CreateSceneRequest* request, v1::SceneInfo* response) override {
    return Call(rpc::CreateScene, context, request, response);
  }
  grpc::Status GetScene(grpc::ServerContext* context, const v1::GetSceneRequest* request, v1::SceneInfo* response) override {
    return Call(rpc::GetScene, context, request, response);
  }
  grpc::Status ListScenes(grpc::ServerContext* context, const v1::ListScenesRequest* request,
                          v1::ListScenesResponse* response) override {
    return Call(rpc::ListScenes, context, request, response);
  }
  grpc::Status DeleteScene(grpc::ServerContext* context, const v1::DeleteSceneRequest* request, Empty* response) override {
    return Call(rpc::DeleteScene, context, request, response);
  }
  grpc::Status CreateSession(grpc::ServerContext* context, const v1::CreateSessionRequest* request,
                             v1::SessionInfo* response) override {
    return Call(rpc::CreateSession, context, request, response);
  }
  grpc::Status Reset(grpc::ServerContext* context, const v1::ResetRequest* request, v1::Observation* response) override {
    return Call(rpc::Reset, context, request, response);
  }
  grpc::Status Step(grpc::ServerContext* context, const v1::StepRequest* request, v1::StepResponse* response) override {
    return Call(rpc::Step, context, request, response);
  }
  grpc::Status GetState(grpc::ServerContext* context, const v1::GetStateRequest* request, v1::Observation* response) override {
    return Call(rpc::GetState, context, request, response);
  }
  grpc::Status DeleteSession(grpc::ServerContext* context, const v1::DeleteSessionRequest* request, Empty* response) override {
    return Call(rpc::DeleteSession, context, request, response);
  }
  grpc::Status StepStream(grpc::ServerContext* context,
                          grpc::ServerReaderWriter<v1::StepResponse, v1::StepRequest>* stream) override {
    return Guarded([&] {
      StreamSet::Stream entry(streams_, [context] { context->TryCancel(); });
      StepStreamEnds ends;
      ends.read = [&](v1::StepRequest* request) { return entry.Wait([&] { return stream->Read(request); }); };
      ends.write = [&](const v1::StepResponse& response) { return stream->Write(response); };
      const absl::Status status = rpc::StepStream(services_, BudgetOf(context), ends);
      if (status.ok() && streams_->draining()) return absl::UnavailableError("SERVER_STOPPING: the server is stopping");
      return status;
    });
  }

 private:
  template <typename Request, typename Response>
  grpc::Status Call(absl::Status (*call)(Services&, const StepBudget&, const Request&, Response*), grpc::ServerContext* context,
                    const Request* request, Response* response) {
    return Guarded([&] { return call(services_, BudgetOf(context), *request, response); });
  }

  Services& services_;
  StreamSet* const streams_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeSimulationService(Services* services, StreamSet* streams) {
  return std::make_unique<SimulationService>(services, streams);
}

}  // namespace eipc::rpc
