#ifndef EIPC_TESTS_SERVER_RPC_LISTEN_WIRE_CLIENT_H_
#define EIPC_TESTS_SERVER_RPC_LISTEN_WIRE_CLIENT_H_

// Calls of a server that no well-behaved client makes, for wire_storm_test.cc.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace eipc::testing {

// A call of any path whose messages are any bytes. Every step waits until it is done.
class WireCall {
 public:
  WireCall(grpc::GenericStub* stub, const std::string& path, std::chrono::microseconds deadline,
           const std::multimap<std::string, std::string>& metadata = {});
  // Cancels it unless it is over.
  ~WireCall();
  WireCall(const WireCall&) = delete;
  WireCall& operator=(const WireCall&) = delete;

  // False when the call is over.
  bool Send(const std::string& message);
  bool CloseSending();
  bool Receive(std::string* message);
  void Cancel() { context_.TryCancel(); }
  grpc::Status Finish();

 private:
  bool Await();

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool finished_ = false;
};

// How a raw connection ends: with a reset, or politely.
enum class Leave { kReset, kClose };

// Opens a connection to HOST:PORT, sends `bytes`, and leaves. False when it could not be opened.
bool SendRaw(const std::string& address, const std::string& bytes, Leave leave);

// The beginning of an HTTP/2 connection, a frame of it, and a block of headers as HPACK literals.
std::string Preface();
std::string Frame(uint8_t kind, uint8_t flags, uint32_t stream, const std::string& payload);
std::string Headers(const std::multimap<std::string, std::string>& fields);
// Those of a call, and a message in gRPC's frame that claims to be so long.
std::multimap<std::string, std::string> CallFields(const std::string& path);
std::string MessageFrame(bool compressed, uint32_t claimed, const std::string& bytes);

// Metrics without labels of http://ADDRESS/metrics, by name; empty when nobody answers.
std::map<std::string, double> Gauges(const std::string& address);
// A port of 127.0.0.1 that nobody listens on.
int FreePort();

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SERVER_RPC_LISTEN_WIRE_CLIENT_H_
