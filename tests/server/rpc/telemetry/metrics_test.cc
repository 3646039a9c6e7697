#include "server/rpc/telemetry/metrics.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace eipc::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int FreePort() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(file, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(file, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(file);
  return ntohs(address.sin_port);
}

// Reads give up after 20 s.
int Dial(int port) {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Loopback(port);
  EXPECT_EQ(connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const timeval patience = {20, 0};
  setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  return file;
}

std::string Scrape(int port) {
  const int file = Dial(port);
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(write(file, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(file, buffer, sizeof(buffer))) > 0;) answer.append(buffer, static_cast<size_t>(n));
  close(file);
  return answer;
}

// Connections that say nothing take neither the endpoint nor, for long, a descriptor.
TEST(Metrics, IdleScrapersStopNobody) {
  Metrics metrics;
  metrics.CallHandled("Step", "OK", 0.001);
  const int port = FreePort();
  const absl::Status exposed = metrics.Expose(absl::StrCat("127.0.0.1:", port));
  ASSERT_TRUE(exposed.ok()) << exposed;
  std::vector<int> idle;
  for (int i = 0; i < 12; ++i) idle.push_back(Dial(port));
  EXPECT_THAT(Scrape(port),
              AllOf(HasSubstr("200 OK"), HasSubstr("grpc_server_handled_total{grpc_code=\"OK\",grpc_method=\"Step\"} 1")));
  for (const int file : idle) {
    char bytes[256];
    ssize_t n = 0;
    do {
      errno = 0;
      n = read(file, bytes, sizeof(bytes));
    } while (n > 0);
    EXPECT_TRUE(n == 0 || errno == ECONNRESET) << "still open";
    close(file);
  }
}

TEST(Metrics, CountsTenantsOnlyWhenAsked) {
  Metrics metrics;
  metrics.TenantCalled("lab", absl::OkStatus());
  metrics.TenantStepped("lab", 7, 0.5);
  metrics.SetGauges(nullptr, [] { return std::map<std::string, double>{{"lab", 3}}; });
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("tenant")));
}

// However many tenants there are, a scrape stays small.
TEST(Metrics, BoundsTheNumberOfTenants) {
  Metrics metrics;
  metrics.CountTenants();
  for (int i = 0; i < 1000; ++i) metrics.TenantCalled(absl::StrCat("tenant", i), absl::OkStatus());
  metrics.TenantCalled("tenant0", absl::ResourceExhaustedError("TENANT_QUOTA: 8 sessions are as many as one tenant may hold"));
  metrics.TenantStepped("tenant0", 7, 0.5);
  metrics.SetGauges(nullptr, [] { return std::map<std::string, double>{{"tenant0", 3}, {"tenant998", 4}, {"tenant999", 5}}; });
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("eipc_tenant_calls_total{grpc_code=\"OK\",tenant=\"tenant63\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("tenant=\"tenant64\"")));
  EXPECT_THAT(text, HasSubstr("eipc_tenant_calls_total{grpc_code=\"OK\",tenant=\"other\"} 936\n"));
  EXPECT_THAT(text, HasSubstr("eipc_tenant_over_quota_total{tenant=\"tenant0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("eipc_tenant_steps_total{tenant=\"tenant0\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("eipc_tenant_step_seconds_total{tenant=\"tenant0\"} 0.5\n"));
  EXPECT_THAT(text, HasSubstr("eipc_tenant_sessions{tenant=\"tenant0\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("eipc_tenant_sessions{tenant=\"other\"} 9\n"));
}

}  // namespace
}  // namespace eipc::rpc
