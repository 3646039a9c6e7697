#include "server/agones_sdk.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace eipc {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// A sidecar that gives one answer to one request.
class Sidecar {
 public:
  explicit Sidecar(std::string answer) : file_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(file_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(file_, 1), 0);
    EXPECT_EQ(getsockname(file_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const int connection = accept(file_, nullptr, nullptr);
      char request[4096];
      (void)!read(connection, request, sizeof(request));
      (void)!write(connection, answer.data(), answer.size());
      close(connection);
    });
  }
  ~Sidecar() {
    thread_.join();
    close(file_);
  }
  AgonesSdk Sdk() const { return AgonesSdk("127.0.0.1", port_); }

 private:
  const int file_;
  int port_ = 0;
  std::thread thread_;
};

TEST(AgonesSdk, ReadsTheStatus) {
  EXPECT_EQ(Sidecar("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").Sdk().Post("/ready", milliseconds(20'000)), absl::OkStatus());
  EXPECT_THAT(
      std::string(Sidecar("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n").Sdk().Post("/ready", milliseconds(20'000)).message()),
      HasSubstr("status 500"));
}

// What the sidecar sends after its header is not read, so its length does not matter.
TEST(AgonesSdk, AnAnswerOfAnyLengthEndsNothing) {
  EXPECT_EQ(Sidecar("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n").Sdk().Post("/health", milliseconds(20'000)),
            absl::OkStatus());
  EXPECT_FALSE(Sidecar("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'y')).Sdk().Post("/health", milliseconds(20'000)).ok());
  EXPECT_FALSE(Sidecar("nonsense").Sdk().Post("/health", milliseconds(20'000)).ok());
}

}  // namespace
}  // namespace eipc
