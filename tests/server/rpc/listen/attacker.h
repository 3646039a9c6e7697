#ifndef EIPC_TESTS_SERVER_RPC_LISTEN_ATTACKER_H_
#define EIPC_TESTS_SERVER_RPC_LISTEN_ATTACKER_H_

// A client that makes wrong calls of every method, for wire_storm_test.cc.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/scribbler.h"
#include "tests/server/rpc/listen/wire_client.h"

namespace eipc::testing {

// What a client did and saw.
struct Tally {
  std::map<std::string, int64_t> calls;        // by method
  std::map<std::string, int64_t> well_formed;  // of their messages, those that are messages of the method
  std::map<grpc::StatusCode, int64_t> codes;
  int64_t raw_connections = 0;

  void Add(const Tally& other);
};

// Over a connection of its own.
std::shared_ptr<grpc::Channel> NewChannel(const std::string& address);

// A sound call by its name, with a request that `fill` fills; nullptr for its answer when it failed.
struct Asked {
  grpc::Status status;
  std::unique_ptr<google::protobuf::Message> answer;
};
Asked Ask(grpc::GenericStub* stub, const std::string& method,
          const std::function<void(google::protobuf::Message*)>& fill = nullptr);
// Deletes all that the call `list` shows, each by the call `remove`. Returns the statuses that are not OK.
std::vector<grpc::Status> DeleteEach(grpc::GenericStub* stub, const std::string& list, const std::string& remove);

// One client with a connection of its own, which it uses to call, and others that it opens to spoil. Expects (GoogleTest) that no
// fault of its own is called a fault of the server.
class Attacker {
 public:
  Attacker(std::string address, uint64_t seed);
  // Makes this number of calls: every method in turn, each time with another fault.
  void Run(int64_t count);
  const Tally& tally() const { return tally_; }

 private:
  using Method = google::protobuf::MethodDescriptor;

  bool Chance(int n) { return random_() % n == 0; }
  void Furnish();
  void Shoot(const Method& method);
  void WrongPath();
  void Spoil();
  std::string Spoiled(const Method& method);
  std::chrono::microseconds Deadline();
  std::multimap<std::string, std::string> Metadata();
  std::string Bytes(const Method& method);
  void Read(const Method& method, const std::string& bytes);
  void Harvest(const google::protobuf::Message& message);
  void Note(const std::string& method, const grpc::Status& status);

  const std::string address_;
  grpc::GenericStub stub_;
  // For calls whose answer is known: calls that are ended early may cost the others on their connection theirs
  // (docs/howto/operations.md, Proxy).
  grpc::GenericStub known_answers_;
  Scribbler::Engine random_;
  std::vector<const Method*> methods_;
  std::vector<std::string> names_ = {"block", "table", "top", "plate", "nope"};
  Tally tally_;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SERVER_RPC_LISTEN_ATTACKER_H_
