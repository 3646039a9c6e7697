// Malformed calls over real sockets, from several clients at once, of every call of the service: wrong bytes, wrong paths, streams
// that are left unfinished, deadlines of nothing, clients that vanish. `./dev test` runs a little of it; `./dev validate service` a
// lot (EIPC_STORM_WIRE_CALLS of each of EIPC_STORM_WIRE_CLIENTS), and reads the lines `FIGURE name value`.

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "eipc/v1/service.pb.h"
#include "tests/conformance/every_call.h"
#include "tests/conformance/server_process.h"
#include "tests/conformance/test_scenes.h"
#include "tests/server/rpc/listen/attacker.h"
#include "tests/support/await.h"

namespace eipc::rpc {
namespace {

using google::protobuf::Message;
using testing::Ask;
using testing::Asked;
using testing::Attacker;
using testing::DeleteEach;
using testing::NewChannel;
using testing::Tally;

int64_t Count(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

void Figure(const std::string& name, int64_t value) { std::printf("FIGURE %s %ld\n", name.c_str(), static_cast<long>(value)); }

// What a server that rests has none of.
const std::set<std::string> kNoneAtRest = {"eipc_sessions",          "eipc_scenes",
                                           "eipc_snapshots",         "eipc_solve_slots_busy",
                                           "eipc_solve_queue_depth", "eipc_operations_running",
                                           "eipc_streams_open",      "eipc_memory_reserved_bytes"};

class WireStorm : public ::testing::Test {
 protected:
  WireStorm()
      : metrics_("127.0.0.1:" + std::to_string(testing::FreePort())),
        // All clients have one address: a proxy that bounds its connections would answer for the server.
        server_({"--listen=127.0.0.1:0", "--metrics=" + metrics_, "--max-sessions=16", "--max-scenes=16", "--max-snapshots=32",
                 "--max-operations=8", "--max-worlds=4", "--memory-mib=512", "--log-level=off", "--proxy-connection-rate=100000",
                 "--proxy-max-connections-per-address=1000"}) {
    google::protobuf::SetLogHandler(nullptr);  // bytes that are no message are logged at length
  }

  Tally Attack(int64_t clients, int64_t calls) {
    std::vector<Attacker> attackers;
    for (int64_t i = 0; i < clients; ++i) attackers.emplace_back(server_.address(), 20260700 + i);
    std::vector<std::thread> threads;
    for (Attacker& attacker : attackers) threads.emplace_back([&attacker, calls] { attacker.Run(calls); });
    for (std::thread& thread : threads) thread.join();
    Tally all;
    for (const Attacker& attacker : attackers) all.Add(attacker.tally());
    return all;
  }

  void ExpectEveryCallWorks() {
    const auto statuses = testing::MakeEveryCall(NewChannel(server_.address()));
    for (const std::string& name : testing::CallsOfTheService()) {
      ASSERT_TRUE(statuses.contains(name)) << name << " was not called";
      EXPECT_TRUE(statuses.at(name).ok()) << name << ": " << statuses.at(name).error_message();
    }
  }

  // Bytes of the meshes that clients have uploaded: no call deletes them, and they count as memory.
  static double Uploaded(grpc::GenericStub* stub) {
    const Asked info = Ask(stub, "GetServerInfo", nullptr);
    EXPECT_TRUE(info.answer != nullptr) << info.status.error_message();
    if (info.answer == nullptr) return 0;
    return static_cast<double>(static_cast<const v1::ServerInfo&>(*info.answer).quotas().upload_bytes().used());
  }

  // Takes away what the storm made, and returns what does not come to rest then.
  std::map<std::string, double> LeftBehind() {
    grpc::GenericStub stub(NewChannel(server_.address()));
    DeleteEach(&stub, "ListOperations", "CancelOperation");
    for (const auto& [list, remove] :
         std::map<std::string, std::string>{{"ListSessions", "DeleteSession"}, {"ListSnapshots", "DeleteSnapshot"}}) {
      for (const grpc::Status& status : DeleteEach(&stub, list, remove)) ADD_FAILURE() << remove << ": " << status.error_message();
    }
    std::map<std::string, double> left;
    (void)testing::Await([&] {
      DeleteEach(&stub, "ListOperations", "DeleteOperation");  // once they are done; until then their results count as memory
      DeleteEach(&stub, "ListScenes", "DeleteScene");          // once no operation holds them
      left = testing::Gauges(metrics_);
      EXPECT_FALSE(left.empty()) << "no metrics";
      left["eipc_memory_reserved_bytes"] -= Uploaded(&stub);
      std::erase_if(left, [](const auto& gauge) { return gauge.second == 0 || !kNoneAtRest.contains(gauge.first); });
      return left.empty();
    });
    return left;
  }

  const std::string metrics_;
  testing::ServerProcess server_;
};

TEST_F(WireStorm, NoMalformedCallFromAnyClientBreaksTheServer) {
  const int64_t clients = Count("EIPC_STORM_WIRE_CLIENTS", 4), calls = Count("EIPC_STORM_WIRE_CALLS", 600);
  ASSERT_NE(server_.address(), "") << "the server did not start";
  ExpectEveryCallWorks();
  const Tally seen = Attack(clients, calls);
  EXPECT_EQ(LeftBehind(), (std::map<std::string, double>()));
  ExpectEveryCallWorks();  // there is room again
  for (const std::string& name : testing::CallsOfTheService()) {
    EXPECT_GT(seen.calls.contains(name) ? seen.calls.at(name) : 0, 0) << name << " is not in the storm";
    EXPECT_GT(seen.well_formed.contains(name) ? seen.well_formed.at(name) : 0, 0) << name << " was never called with its message";
  }
  for (const grpc::StatusCode code : {grpc::StatusCode::OK, grpc::StatusCode::INVALID_ARGUMENT, grpc::StatusCode::NOT_FOUND}) {
    EXPECT_GT(seen.codes.contains(code) ? seen.codes.at(code) : 0, clients * calls / 100) << "code " << code;
  }
  Figure("wire_calls", clients * calls);
  Figure("wire_methods", static_cast<int64_t>(seen.calls.size()));
  Figure("wire_raw_connections", seen.raw_connections);
  for (const auto& [code, count] : seen.codes) Figure("wire_code_" + std::to_string(code), count);
  server_.Signal(SIGTERM);
  EXPECT_EQ(server_.Wait(), 0) << server_.errors();
}

// The result of an operation is kept, and counts, until the operation is deleted: the only thing here that does.
TEST_F(WireStorm, ResultsCountUntilTheirOperationsAreDeleted) {
  ASSERT_NE(server_.address(), "") << "the server did not start";
  grpc::GenericStub stub(NewChannel(server_.address()));
  const Asked begun = Ask(&stub, "StartCreateScene", [](Message* message) {
    auto& request = *static_cast<v1::CreateSceneRequest*>(message);
    *request.mutable_scene() = testing::BlockOnTable();
    request.set_validate_only(true);
  });
  ASSERT_TRUE(begun.answer != nullptr) << begun.status.error_message();
  const Asked ended = Ask(&stub, "GetOperation", [&begun](Message* message) {
    auto& request = *static_cast<v1::GetOperationRequest*>(message);
    request.set_name(static_cast<const v1::Operation&>(*begun.answer).name());
    request.set_wait_s(60);
  });
  ASSERT_TRUE(ended.answer != nullptr) << ended.status.error_message();
  ASSERT_TRUE(static_cast<const v1::Operation&>(*ended.answer).has_scene());
  EXPECT_GT(testing::Gauges(metrics_)["eipc_memory_reserved_bytes"], 0);
  EXPECT_EQ(LeftBehind(), (std::map<std::string, double>()));
}

}  // namespace
}  // namespace eipc::rpc
