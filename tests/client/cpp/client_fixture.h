#ifndef EIPC_TESTS_CLIENT_CPP_CLIENT_FIXTURE_H_
#define EIPC_TESTS_CLIENT_CPP_CLIENT_FIXTURE_H_

#include <gtest/gtest.h>

#include "client/cpp/client.h"
#include "eipc/v1/scene.pb.h"
#include "tests/conformance/server_process.h"

namespace eipc::client {

// A client of a server of its own.
class ClientTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new testing::ServerProcess({"--listen", "127.0.0.1:0"}); }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  ClientTest() : client_(*Client::Connect(server_->address())) {}

  static SceneSource Source(const v1::Scene& scene) {
    SceneSource source = *SceneSource::FromText("");
    source.message() = scene;
    return source;
  }
  Session NewSession(const v1::Scene& scene) { return *client_.CreateSession(client_.CreateScene(Source(scene))->name); }

  static inline testing::ServerProcess* server_ = nullptr;
  Client client_;
};

}  // namespace eipc::client

#endif  // EIPC_TESTS_CLIENT_CPP_CLIENT_FIXTURE_H_
