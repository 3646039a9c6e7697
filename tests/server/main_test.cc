// The program eipc-server, from outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "client/cpp/client.h"
#include "tests/conformance/server_process.h"
#include "tests/conformance/test_scenes.h"

namespace eipc {
namespace {

using client::Client;
using client::SceneSource;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::ServerProcess;

SceneSource Block() {
  SceneSource source = *SceneSource::FromText("");
  source.message() = testing::FallingBlock();
  return source;
}

TEST(EipcServer, SaysWhereItListensAndStopsOnSigterm) {
  ServerProcess server({"--listen", "127.0.0.1:0"});
  EXPECT_THAT(server.first_line(), MatchesRegex("eipc-server listening on 127\\.0\\.0\\.1:[0-9]+"));
  ASSERT_TRUE(Client::Connect(server.address()).ok());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_FALSE(Client::Connect(server.address(), {.connect_timeout = std::chrono::milliseconds(200)}).ok());
}

TEST(EipcServer, StopsOnSigintToo) {
  ServerProcess server({"--listen", "127.0.0.1:0"});
  server.Signal(SIGINT);
  EXPECT_EQ(server.Wait(), 0);
}

// An idle stream is no reason to wait; a running step gets its grace and is then cancelled.
TEST(EipcServer, StopsUnderLoad) {
  ServerProcess server({"--listen", "127.0.0.1:0", "--grace", "0.3"});
  auto client = Client::Connect(server.address());
  ASSERT_TRUE(client.ok());
  const auto scene = client->CreateScene(Block());
  ASSERT_TRUE(scene.ok()) << scene.status();
  auto idle_session = client->CreateSession(scene->name);
  auto busy_session = client->CreateSession(scene->name);
  ASSERT_TRUE(idle_session.ok() && busy_session.ok());
  auto stream = idle_session->OpenStream();
  ASSERT_TRUE(stream.Step(0.01).ok());
  std::thread busy([&] { EXPECT_FALSE(busy_session->Step(0.001, {.substeps = 100000}).ok()); });
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  busy.join();
  EXPECT_FALSE(stream.Step(0.01).ok());
}

TEST(EipcServer, RefusesWhatItCannotServe) {
  ServerProcess public_address({"--listen", "0.0.0.0:0"});
  EXPECT_EQ(public_address.first_line(), "");
  EXPECT_EQ(public_address.Wait(), 1);
  EXPECT_THAT(public_address.errors(), HasSubstr("only loopback addresses are served without TLS"));

  ServerProcess first({"--listen", "127.0.0.1:0"});
  ServerProcess second({"--listen", first.address()});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_THAT(second.errors(), HasSubstr("cannot listen on"));

  ServerProcess unknown_flag({"--no-such-flag"});
  EXPECT_NE(unknown_flag.Wait(), 0);
}

TEST(EipcServer, DocumentsItsFlags) {
  ServerProcess help({"--help"});
  EXPECT_THAT(help.first_line(), HasSubstr("eipc-server"));
}

}  // namespace
}  // namespace eipc
