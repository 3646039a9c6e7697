#include "server/proxy_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace eipc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHaproxy[] = "/usr/sbin/haproxy";
constexpr char kNobody[] = "0000000000000000000000000000000000000000000000000000000000000000";

class ProxyConfigTest : public ::testing::Test {
 protected:
  ProxyConfigTest() {
    proxy_.message_filter = EIPC_MESSAGE_FILTER;
    char name[] = "/tmp/eipc_proxy_XXXXXX";
    folder_ = mkdtemp(name);
    server_.listen = "unix:/run/eipc/grpc.sock";
  }
  ~ProxyConfigTest() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  // A certificate of its own authority, its key beside it.
  std::string Certificate() const {
    const std::string path = folder_ + "/proxy";
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=proxy -keyout " + path +
        ".key -out " + path + ".crt 2>/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return path + ".crt";
  }
  std::string Text() const {
    const auto text = ProxyConfiguration(proxy_, server_);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  }
  void ExpectRefused(const std::string& why) const {
    const auto text = ProxyConfiguration(proxy_, server_);
    EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(text.status().message()), HasSubstr(why));
  }
  // Warnings count as errors.
  void ExpectAcceptedByHaproxy() const {
    const std::string path = File("haproxy.cfg", Text());
    EXPECT_EQ(std::system((std::string(kHaproxy) + " -c -dW -q -f " + path).c_str()), 0) << Text();
  }

  std::string folder_;
  ProxyOptions proxy_;
  rpc::GrpcServerOptions server_;
};

TEST_F(ProxyConfigTest, HaproxyTakesWhatIsWritten) {
  if (access(kHaproxy, X_OK) != 0) GTEST_SKIP() << "there is no " << kHaproxy;
  ExpectAcceptedByHaproxy();
  proxy_.listen = "[::1]:50051";
  proxy_.health = "127.0.0.1:8080";
  ExpectAcceptedByHaproxy();
  server_.metrics = "127.0.0.1:9464";
  proxy_.listen = "0.0.0.0:50051";
  proxy_.certificate = Certificate();
  server_.access_file = File("access", std::string("token ") + kNobody + " lab operator\n");
  ExpectAcceptedByHaproxy();
  proxy_.client_ca = proxy_.certificate;
  ExpectAcceptedByHaproxy();
  server_.listen = "unix:" + folder_ + "/a folder with spaces/$HOME \\ # \"x\"";
  ExpectAcceptedByHaproxy();
}

TEST_F(ProxyConfigTest, NamesOfFilesCannotWriteRules) {
  proxy_.certificate = "/etc/proxy.pem' \n http-request allow";
  ExpectRefused("PROXY_PATH: --proxy-cert");
  proxy_.certificate.clear();
  server_.listen = "unix:/run/o'clock";
  ExpectRefused("PROXY_PATH: --listen");
  server_.listen = "unix:/run/eipc/grpc.sock";
  proxy_.message_filter = "/usr/lib/a'b.lua";
  ExpectRefused("PROXY_PATH: --proxy-message-filter");
}

// The health port has no credentials: it would answer 503 for ever.
TEST_F(ProxyConfigTest, AHealthPortNeedsOpenHealthChecks) {
  server_.open_health = false;
  EXPECT_THAT(Text(), Not(HasSubstr("frontend health")));
  proxy_.health = "127.0.0.1:8080";
  ExpectRefused("PROXY_HEALTH: --proxy-health: ");
}

TEST_F(ProxyConfigTest, MessagesAreBoundedAsInTheServer) {
  server_.limits.max_message_mib = 3;
  EXPECT_THAT(Text(), HasSubstr("  filter lua.grpc-messages 3145728\n"));
}

TEST_F(ProxyConfigTest, OffLoopbackCallsAreEncryptedAndCallersKnown) {
  proxy_.listen = "0.0.0.0:50051";
  ExpectRefused("only loopback is served without TLS");
  proxy_.certificate = "/etc/eipc/proxy.pem";
  ExpectRefused("callers must be known");
  proxy_.client_ca = "/etc/eipc/clients.pem";
  EXPECT_THAT(Text(), HasSubstr("verify required"));
}

// Over TCP anybody on the machine could claim to be the proxy.
TEST_F(ProxyConfigTest, CertificatesNeedAUnixSocket) {
  proxy_.certificate = "/etc/eipc/proxy.pem";
  proxy_.client_ca = "/etc/eipc/clients.pem";
  server_.listen = "127.0.0.1:50052";
  ExpectRefused("over a Unix socket only");
  proxy_.client_ca.clear();
  EXPECT_THAT(Text(), HasSubstr("server eipc 127.0.0.1:50052 proto h2"));
  server_.listen = "0.0.0.0:50052";
  ExpectRefused("behind the proxy the server listens");
}

TEST_F(ProxyConfigTest, CallersWithATokenNeedNoCertificate) {
  proxy_.certificate = proxy_.client_ca = "/etc/eipc/clients.pem";
  server_.access_file = File("certificates", "cert robot lab operator\n");
  EXPECT_THAT(Text(), HasSubstr("verify required"));
  server_.access_file = File("both", std::string("cert robot lab operator\ntoken ") + kNobody + " lab viewer\n");
  EXPECT_THAT(Text(), HasSubstr("verify optional"));
}

TEST_F(ProxyConfigTest, WhatClientsSayAboutThemselvesIsRemovedBeforeItIsSet) {
  EXPECT_THAT(Text(), HasSubstr("http-request del-header x-eipc- -m beg\n"));
  EXPECT_THAT(Text(), Not(HasSubstr("set-header x-eipc-client-cert")));
  proxy_.certificate = proxy_.client_ca = "/etc/eipc/clients.pem";
  const std::string text = Text();
  EXPECT_LT(text.find("del-header x-eipc-"), text.find("set-header x-eipc-client-cert"));
  EXPECT_THAT(text, HasSubstr("{ ssl_c_used } { ssl_c_verify 0 }"));
}

// A stream's unread answers must not hold up other calls: each has a connection to the server for itself.
TEST_F(ProxyConfigTest, KnowsWhichCallsStream) {
  const std::string text = Text();
  for (const char* call : {"StepStream", "GetRecording", "UploadMesh"}) {
    EXPECT_THAT(text, HasSubstr(std::string("acl method_streams path /eipc.v1.SimulationService/") + call + "\n"));
  }
  EXPECT_THAT(text, Not(HasSubstr("method_streams path /eipc.v1.SimulationService/StepBatch")));
  EXPECT_THAT(text, HasSubstr("acl method_exists path /eipc.v1.SimulationService/StepBatch\n"));
}

}  // namespace
}  // namespace eipc
