#include "server/rpc/listen/source_filter.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace eipc::rpc {
namespace {

// Listens on [::], where IPv4 arrives as well.
class SourceFilterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_ = socket(AF_INET6, SOCK_STREAM, 0);
    const int off = 0;
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    if (listener_ < 0 || setsockopt(listener_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) != 0 ||
        bind(listener_, reinterpret_cast<sockaddr*>(&any), sizeof(any)) != 0) {
      GTEST_SKIP() << "no IPv6 here";
    }
    ASSERT_EQ(listen(listener_, 16), 0);
    socklen_t size = sizeof(any);
    ASSERT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&any), &size), 0);
    port_ = any.sin6_port;
  }
  ~SourceFilterTest() override {
    for (const int file : files_) close(file);
    if (listener_ >= 0) close(listener_);
  }
  // Begins to connect; whether that is done is in its state. On loopback a first packet has arrived, or been dropped, by then.
  int Begin(const std::string& from) {
    const bool v4 = from.find(':') == std::string::npos;
    const int file = socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
    files_.push_back(file);
    if (v4) {
      sockaddr_in own{}, there{};
      own.sin_family = there.sin_family = AF_INET;
      inet_pton(AF_INET, from.c_str(), &own.sin_addr);
      there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      there.sin_port = port_;
      EXPECT_EQ(bind(file, reinterpret_cast<sockaddr*>(&own), sizeof(own)), 0);
      (void)connect(file, reinterpret_cast<sockaddr*>(&there), sizeof(there));
    } else {
      sockaddr_in6 there{};
      there.sin6_family = AF_INET6;
      inet_pton(AF_INET6, from.c_str(), &there.sin6_addr);  // to itself
      there.sin6_port = port_;
      (void)connect(file, reinterpret_cast<sockaddr*>(&there), sizeof(there));
    }
    return file;
  }
  // Blocks until somebody is through.
  int Accept() {
    const int file = accept(listener_, nullptr, nullptr);
    EXPECT_GE(file, 0);
    files_.push_back(file);
    return file;
  }
  static bool Waits(int file) {
    tcp_info info{};
    socklen_t size = sizeof(info);
    return getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == TCP_SYN_SENT;
  }

  int listener_ = -1;
  in_port_t port_ = 0;
  std::vector<int> files_;
};

TEST_F(SourceFilterTest, DropsThoseNamedAndNobodyElse) {
  ASSERT_TRUE(DropSources(listener_, {"127.0.0.9", "10.0.0.1", "::1", "127.0.0.7"}));
  const std::vector<int> dropped = {Begin("127.0.0.9"), Begin("127.0.0.7"), Begin("::1")};
  Begin("127.0.0.8");
  Accept();
  for (const int file : dropped) EXPECT_TRUE(Waits(file));
}

TEST_F(SourceFilterTest, KnowsAllWordsOfAnAddress) {
  ASSERT_TRUE(DropSources(listener_, {"::2", "1::1", "fe80::1:0:0:1", "::ffff:127.0.0.1"}));
  Begin("::1");
  Accept();
  Begin("127.0.0.1");
  Accept();
}

TEST_F(SourceFilterTest, LetsThemInAgain) {
  ASSERT_TRUE(DropSources(listener_, {"127.0.0.9"}));
  EXPECT_TRUE(Waits(Begin("127.0.0.9")));
  ASSERT_TRUE(DropSources(listener_, {}));
  Begin("127.0.0.9");
  Accept();
}

// Those accepted meanwhile are free of it when they are told so.
TEST_F(SourceFilterTest, AcceptedConnectionsHaveTheFilterUntilItIsLifted) {
  ASSERT_TRUE(DropSources(listener_, {"127.0.0.9"}));
  Begin("127.0.0.8");
  const int accepted = Accept();
  EXPECT_TRUE(DropNothing(accepted));
  EXPECT_FALSE(DropNothing(accepted));  // nothing left to lift
}

TEST_F(SourceFilterTest, TakesAsManyAsItSays) {
  std::vector<std::string> sources;
  for (size_t i = 0; i < kMostDroppedSources; ++i) sources.push_back((i % 2 == 0 ? "10.0.0." : "1::") + std::to_string(i + 1));
  sources.back() = "127.0.0.9";
  sources.push_back("127.0.0.8");  // one too many
  ASSERT_TRUE(DropSources(listener_, sources));
  const int dropped = Begin("127.0.0.9");
  Begin("127.0.0.8");
  Accept();
  EXPECT_TRUE(Waits(dropped));
}

}  // namespace
}  // namespace eipc::rpc
