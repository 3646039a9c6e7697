// The program eipc-server, from outside.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/client.h"
#include "server/session/access.h"
#include "tests/conformance/server_process.h"
#include "tests/conformance/test_scenes.h"
#include "tests/support/await.h"

namespace eipc {
namespace {

using client::Client;
using client::SceneSource;
using client::Session;
using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::ServerProcess;

SceneSource Block(int cells = 1) {
  SceneSource source = *SceneSource::FromText("");
  source.message() = testing::FallingBlock(cells);
  return source;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::trunc) << text; }

std::string Fresh(const char* name) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::remove(path.c_str());
  return path;
}

// Until the server has logged that event so often.
void AwaitEvent(const ServerProcess& server, const std::string& event, int times = 1) {
  const std::string text = "\"event\":\"" + event + "\"";
  const auto logged = [&] {
    const std::string log = server.ErrorsSoFar();
    int found = 0;
    for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++found;
    return found >= times;
  };
  EXPECT_TRUE(testing::Await(logged)) << event;
}

std::string TokenLine(const std::string& token, const std::string& rest) { return "token " + Sha256Hex(token) + " " + rest + "\n"; }

absl::StatusOr<Client> ConnectAs(const ServerProcess& server, const std::string& token) {
  Client::Options options;
  options.token = token;
  return Client::Connect(server.address(), options);
}

std::vector<Json> Entries(const std::string& path) {
  std::vector<Json> entries;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) entries.push_back(Json::parse(line));
  return entries;
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

// A step that takes long, in a thread of its own.
class LongStep {
 public:
  static constexpr int kCells = 8;  // of the block: 1e5 substeps of it take minutes

  // Settings of a server on which a step that runs can be seen: another one is refused.
  static std::vector<std::string> Settings(const std::string& grace_s) {
    return {"--listen", "127.0.0.1:0", "--grace", grace_s, "--solve-slots", "1", "--max-waiting", "0"};
  }

  explicit LongStep(Session session) : session_(std::move(session)), thread_([this] { Run(); }) {}
  ~LongStep() { thread_.join(); }
  LongStep(const LongStep&) = delete;
  LongStep& operator=(const LongStep&) = delete;

  // Returns once it runs. other: a session whose steps are refused then.
  void AwaitRunning(Session* other) const {
    absl::Status status;
    while (status.ok()) status = other->Step(1e-4).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("QUEUE_FULL"));
  }

 private:
  // Waiting for it may be what takes its slot between two substeps.
  void Run() {
    absl::Status status = absl::ResourceExhaustedError("");
    while (absl::IsResourceExhausted(status)) status = session_.Step(1e-4, {.substeps = 100000}).status();
    EXPECT_FALSE(status.ok());
  }

  Session session_;
  std::thread thread_;
};

// An idle stream is no reason to wait; a running step gets its grace and is then cancelled.
TEST(EipcServer, StopsUnderLoad) {
  ServerProcess server(LongStep::Settings("0.3"));
  auto client = Client::Connect(server.address());
  ASSERT_TRUE(client.ok());
  const auto scene = client->CreateScene(Block(LongStep::kCells));
  ASSERT_TRUE(scene.ok()) << scene.status();
  auto idle = client->CreateSession(scene->name), busy = client->CreateSession(scene->name),
       other = client->CreateSession(scene->name);
  ASSERT_TRUE(idle.ok() && busy.ok() && other.ok());
  auto stream = idle->OpenStream();
  ASSERT_TRUE(stream.Step(0.01).ok());
  {
    const LongStep step(*std::move(busy));
    step.AwaitRunning(&*other);
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait(), 0);
  }
  EXPECT_FALSE(stream.Step(0.01).ok());
}

// A caller that sent one signal and cannot wait sends another.
TEST(EipcServer, ASecondSignalEndsItAtOnce) {
  ServerProcess server(LongStep::Settings("3600"));
  auto client = Client::Connect(server.address());
  ASSERT_TRUE(client.ok());
  const auto scene = client->CreateScene(Block(LongStep::kCells));
  ASSERT_TRUE(scene.ok()) << scene.status();
  auto busy = client->CreateSession(scene->name), other = client->CreateSession(scene->name);
  ASSERT_TRUE(busy.ok() && other.ok());
  const LongStep step(*std::move(busy));
  step.AwaitRunning(&*other);
  server.Signal(SIGTERM);
  AwaitEvent(server, "draining");
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), -SIGTERM);
}

// Nobody reads its standard error: calls that fail are answered, and it ends on SIGTERM.
TEST(EipcServer, AnUnreadLogStopsNothing) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_GT(fcntl(ends[1], F_SETPIPE_SZ, 4096), 0);
  ServerProcess server({"--listen", "127.0.0.1:0"}, ends[1]);
  auto client = Client::Connect(server.address(), {.call_timeout = std::chrono::seconds(20)});
  ASSERT_TRUE(client.ok());
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(client->DeleteScene("scenes/none").code(), absl::StatusCode::kNotFound) << "call " << i;
  }
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(EipcServer, ReadsItsAccessFileAgainOnSighup) {
  const std::string access = Fresh("access");
  WriteFile(access, TokenLine("old", "lab operator") + TokenLine("kept", "fab operator"));
  ServerProcess server({"--listen", "127.0.0.1:0", "--access-file", access});
  auto old_one = ConnectAs(server, "old"), kept = ConnectAs(server, "kept"), fresh = ConnectAs(server, "fresh");
  ASSERT_TRUE(old_one.ok() && kept.ok() && fresh.ok());
  const auto lab_scene = old_one->CreateScene(Block()), fab_scene = kept->CreateScene(Block());
  ASSERT_TRUE(lab_scene.ok() && fab_scene.ok()) << lab_scene.status() << fab_scene.status();
  auto lab_session = old_one->CreateSession(lab_scene->name), fab_session = kept->CreateSession(fab_scene->name);
  ASSERT_TRUE(lab_session.ok() && fab_session.ok());
  auto lab_stream = lab_session->OpenStream(), fab_stream = fab_session->OpenStream();
  ASSERT_TRUE(lab_stream.Step(0.01).ok() && fab_stream.Step(0.01).ok());
  EXPECT_EQ(fresh->DeleteScene("scenes/none").code(), absl::StatusCode::kUnauthenticated);

  WriteFile(access, TokenLine("fresh", "lab operator") + TokenLine("kept", "fab operator"));
  server.Signal(SIGHUP);
  AwaitEvent(server, "reloaded");
  EXPECT_EQ(fresh->DeleteScene("scenes/none").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(old_one->DeleteScene("scenes/none").code(), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(fab_stream.Step(0.01).ok());  // nothing happened to it
  // A stream of credentials that are gone ends with its next request; the session is there for other callers with access.
  EXPECT_FALSE(lab_stream.Step(0.01).ok());
  EXPECT_EQ(lab_stream.Finish().code(), absl::StatusCode::kUnauthenticated);

  WriteFile(access, "token not-a-hash lab operator\n");
  server.Signal(SIGHUP);
  AwaitEvent(server, "reload_failed");
  EXPECT_THAT(server.ErrorsSoFar(), HasSubstr("line 1: a token is given by its SHA-256"));
  EXPECT_EQ(fresh->DeleteScene("scenes/none").code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(fab_stream.Step(0.01).ok());
}

TEST(EipcServer, ReadsItsConfigurationAgainOnSighup) {
  const std::string file = Fresh("eipc.conf");
  WriteFile(file, "log-level = off\nmax-sessions = 8\n");
  ServerProcess server({"--listen", "127.0.0.1:0", "--config", file});
  WriteFile(file, "log-level = debug\nmax-sessions = 9\n");
  server.Signal(SIGHUP);
  AwaitEvent(server, "reloaded");
  EXPECT_THAT(server.ErrorsSoFar(), HasSubstr("\"in_force\":\"log-level\",\"at_next_start\":\"max-sessions\""));
  WriteFile(file, "log-levl = info\n");
  server.Signal(SIGHUP);
  AwaitEvent(server, "reload_failed");
  EXPECT_THAT(server.ErrorsSoFar(), HasSubstr("did you mean 'log-level'?"));
}

TEST(EipcServer, ReadsQuotasAgainOnSighup) {
  const std::string access = Fresh("access"), file = Fresh("quotas.conf");
  WriteFile(access, TokenLine("a", "lab operator"));
  WriteFile(file, "tenant-sessions = 1\n");
  ServerProcess server({"--listen", "127.0.0.1:0", "--access-file", access, "--config", file});
  auto lab = ConnectAs(server, "a");
  ASSERT_TRUE(lab.ok());
  const auto scene = lab->CreateScene(Block());
  ASSERT_TRUE(scene.ok()) << scene.status();
  ASSERT_TRUE(lab->CreateSession(scene->name).ok());
  EXPECT_THAT(std::string(lab->CreateSession(scene->name).status().message()), HasSubstr("TENANT_QUOTA"));
  WriteFile(file, "tenant-sessions = 2\n");
  server.Signal(SIGHUP);
  AwaitEvent(server, "reloaded");
  EXPECT_TRUE(lab->CreateSession(scene->name).ok());
  EXPECT_FALSE(lab->CreateSession(scene->name).ok());
}

TEST(EipcServer, KeepsAnAuditLogThatCanBeRotated) {
  const std::string access = Fresh("access"), audit = Fresh("audit"), rotated = Fresh("audit.1");
  WriteFile(access, TokenLine("a", "lab operator") + TokenLine("b", "lab viewer"));
  ServerProcess server({"--listen", "127.0.0.1:0", "--access-file", access, "--audit-file", audit});
  auto lab = ConnectAs(server, "a"), viewer = ConnectAs(server, "b"), stranger = ConnectAs(server, "c");
  ASSERT_TRUE(lab.ok() && viewer.ok() && stranger.ok());
  const auto scene = lab->CreateScene(Block());
  ASSERT_TRUE(scene.ok()) << scene.status();
  auto session = lab->CreateSession(scene->name);
  ASSERT_TRUE(session.ok() && session->Step(0.01).ok() && session->Reset().ok());
  EXPECT_FALSE(viewer->DeleteScene(scene->name).ok());
  EXPECT_FALSE(stranger->DeleteScene(scene->name).ok());
  ASSERT_TRUE(testing::Await([&] { return Entries(audit).size() >= 5; }));
  ASSERT_EQ(std::rename(audit.c_str(), rotated.c_str()), 0);
  server.Signal(SIGHUP);
  AwaitEvent(server, "reloaded");
  EXPECT_TRUE(session->Delete().ok());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);

  std::vector<std::string> said;
  for (const std::string& path : {rotated, audit}) {
    for (const Json& entry : Entries(path)) {
      said.push_back(absl::StrCat(entry.at("action").get<std::string>(), " ", entry.value("resource", ""), " ",
                                  entry.value("role", ""), " ", entry.value("code", "")));
    }
  }
  EXPECT_THAT(said,
              ::testing::ElementsAre(HasSubstr("server_start"), "create " + scene->name + " operator OK",
                                     "create " + session->name() + " operator OK", "reset " + session->name() + " operator OK",
                                     // Refused before its message was read: of what, nobody knows.
                                     "delete  viewer PERMISSION_DENIED", HasSubstr("reload"),
                                     "delete " + session->name() + " operator OK", HasSubstr("server_stop")));
  const Json created = Entries(rotated).at(2);
  EXPECT_EQ(created.at("source"), scene->name);
  EXPECT_EQ(created.at("tenant"), "lab");
  EXPECT_EQ(created.at("identity"), "token:" + Sha256Hex("a").substr(0, 16));
  EXPECT_THAT(created.at("peer").get<std::string>(), HasSubstr("127.0.0.1"));
}

// As many descriptors as it may have, and files for its owner alone.
TEST(EipcServer, PreparesItsProcess) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit lower = {limit.rlim_max / 2, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  ServerProcess server({"--listen", "127.0.0.1:0"});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const std::string proc = absl::StrCat("/proc/", server.pid());
  const std::string most = absl::StrCat(limit.rlim_max);
  EXPECT_THAT(ReadFile(proc + "/limits"), MatchesRegex(absl::StrCat("(.|\n)*Max open files +", most, " +", most, " (.|\n)*")));
  EXPECT_THAT(ReadFile(proc + "/status"), HasSubstr("Umask:\t0077"));
}

TEST(EipcServer, RefusesWhatItCannotServe) {
  ServerProcess public_address({"--listen", "0.0.0.0:0"});
  EXPECT_EQ(public_address.first_line(), "");
  EXPECT_EQ(public_address.Wait(), 1);
  EXPECT_THAT(public_address.errors(),
              HasSubstr("only loopback addresses (127.0.0.1, [::1], localhost) and Unix sockets are served"));

  ServerProcess first({"--listen", "127.0.0.1:0"});
  ServerProcess second({"--listen", first.address()});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_THAT(second.errors(), HasSubstr("cannot listen on"));

  ServerProcess open_metrics({"--listen", "127.0.0.1:0", "--metrics", "0.0.0.0:0"});
  EXPECT_EQ(open_metrics.Wait(), 1);
  EXPECT_THAT(open_metrics.errors(), HasSubstr("only loopback addresses are served"));

  ServerProcess unknown_flag({"--no-such-flag"});
  EXPECT_EQ(unknown_flag.Wait(), 2);
}

TEST(EipcServer, ChecksItsSettingsWithoutStarting) {
  const std::string file = Fresh("checked.conf");
  WriteFile(file, "metrics = 0.0.0.0:9464\n");
  ServerProcess wrong({"--check-config", "--config", file});
  EXPECT_EQ(wrong.Wait(), 1);
  EXPECT_THAT(wrong.errors(), HasSubstr("--metrics 0.0.0.0:9464: only loopback addresses"));
  WriteFile(file, "metrics = 127.0.0.1:9464\n");
  ServerProcess right({"--check-config", "--config", file});
  EXPECT_EQ(right.first_line(), "eipc-server: the settings are in order");
  EXPECT_EQ(right.Wait(), 0);
  WriteFile(file, "metric = 127.0.0.1:9464\n");
  ServerProcess unknown({"--check-config", "--config", file});
  EXPECT_EQ(unknown.Wait(), 2);
}

TEST(EipcServer, DocumentsItsFlags) {
  ServerProcess help({"--help"});
  EXPECT_THAT(help.first_line(), HasSubstr("eipc-server"));
}

}  // namespace
}  // namespace eipc
