#ifndef EIPC_TESTS_VALIDATE_LOAD_CLIENT_H_
#define EIPC_TESTS_VALIDATE_LOAD_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "eipc/v1/service.grpc.pb.h"

namespace eipc::load {

using Clock = std::chrono::steady_clock;
using Stub = v1::SimulationService::Stub;

// s.
double Since(Clock::time_point begin);

// 0 of nothing. `share` in [0, 1].
double Percentile(std::vector<double> values, double share);

// Over a connection of its own.
std::unique_ptr<Stub> Connect(const std::string& address);

// Ends the program when a call failed; `what`: its name.
void Check(const grpc::Status& status, const char* what);

// A scene read from a text proto, its meshes in it. Ends the program when it cannot be read.
v1::Scene ReadScene(const std::string& file);

std::string NewSession(Stub* stub, const v1::Scene& scene);

// One step of 0.01 s.
v1::StepRequest StepOf(const std::string& session);

}  // namespace eipc::load

#endif  // EIPC_TESTS_VALIDATE_LOAD_CLIENT_H_
