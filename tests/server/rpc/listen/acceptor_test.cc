#include "server/rpc/listen/acceptor.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/rpc/listen/self_probe.h"

namespace eipc::rpc {
namespace {

class AcceptorTest : public ::testing::Test {
 protected:
  ~AcceptorTest() override {
    acceptor_.reset();
    for (const int file : handed_) close(file);
    for (const int file : clients_) close(file);
  }
  // `serve` is called with each connection by the thread that hands it over.
  void Start(
      const Acceptor::Options& options, Acceptor::Unanswered unanswered = nullptr, std::function<void(int)> serve = [](int) {}) {
    auto acceptor = Acceptor::Listen(*ParseListenAddress("127.0.0.1:0"), options);
    ASSERT_TRUE(acceptor.ok()) << acceptor.status();
    acceptor_ = *std::move(acceptor);
    acceptor_->Start(
        [this, serve](int file) {
          {
            const std::lock_guard<std::mutex> lock(mutex_);
            handed_.push_back(file);
          }
          serve(file);
        },
        std::move(unanswered));
  }
  int Connect(uint32_t from = 0x7f000001) {
    const int file = BeginToConnect(from, 0);
    clients_.push_back(file);
    return file;
  }
  int BeginToConnect(uint32_t from, int flags) {
    const int file = socket(AF_INET, SOCK_STREAM | flags, 0);
    sockaddr_in own{}, server{};
    own.sin_family = server.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(from);
    server.sin_addr.s_addr = htonl(0x7f000001);
    server.sin_port = htons(static_cast<uint16_t>(acceptor_->port()));
    EXPECT_EQ(bind(file, reinterpret_cast<sockaddr*>(&own), sizeof(own)), 0);
    const int connected = connect(file, reinterpret_cast<sockaddr*>(&server), sizeof(server));
    EXPECT_TRUE(connected == 0 || (flags == SOCK_NONBLOCK && errno == EINPROGRESS));
    return file;
  }
  // Blocks until the server has ended it.
  static bool Ended(int file) {
    char byte;
    return recv(file, &byte, 1, 0) <= 0;
  }
  static void SendUntilEnded(int file) {
    const std::string words(8192, 'x');
    while (send(file, words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0 || errno == EAGAIN) {
    }
  }
  template <typename Condition>
  void Until(Condition condition) {
    while (!condition(acceptor_->counts())) std::this_thread::yield();
  }

  std::mutex mutex_;
  std::vector<int> handed_;
  std::vector<int> clients_;
  std::unique_ptr<Acceptor> acceptor_;
};

TEST_F(AcceptorTest, HandsConnectionsOnAndSeesTheirEnd) {
  Start({});
  const int first = Connect();
  Connect();
  Until([](const Acceptor::Counts& c) { return c.open == 2; });
  clients_.erase(clients_.begin());
  close(first);
  Until([](const Acceptor::Counts& c) { return c.open == 1; });
  EXPECT_EQ(acceptor_->counts().accepted, 2);
}

// gRPC may keep a connection for long after its client has left: nobody is taken for the one that left, whatever numbers are free.
TEST_F(AcceptorTest, WatchesNobodyUnderTheNumberOfOneThatLeft) {
  Start({});  // keeps all that it is given
  // Three numbers become free: for a client's end and both of the server's.
  for (int i = 1; i <= 3; ++i) {
    Connect();
    Until([i](const Acceptor::Counts& c) { return c.open == i; });
  }
  for (const int file : clients_) shutdown(file, SHUT_RDWR);
  Until([](const Acceptor::Counts& c) { return c.open == 0; });
  for (int i = 1; i <= 3; ++i) {
    Connect();
    Until([i](const Acceptor::Counts& c) { return c.accepted == 3 + i; });
    EXPECT_EQ(acceptor_->counts().open, i);
  }
}

TEST_F(AcceptorTest, ClosesThoseBeyondItsBounds) {
  Start({.max_connections = 3, .max_per_peer = 2});
  Connect();
  Connect();
  EXPECT_TRUE(Ended(Connect()));  // the third from one address
  Connect(0x7f000005);
  EXPECT_TRUE(Ended(Connect(0x7f000006)));  // the fourth in all
  const Acceptor::Counts counts = acceptor_->counts();
  EXPECT_EQ(counts.open, 3);
  EXPECT_EQ(counts.refused_peer, 1);
  EXPECT_EQ(counts.refused_total, 1);
}

TEST_F(AcceptorTest, EndsConnectionsThatSayNothing) {
  Start({.handshake_timeout = std::chrono::milliseconds(50)});
  const int silent = Connect();
  const int talking = Connect();
  const std::string words(64, 'x');
  ASSERT_EQ(send(talking, words.data(), words.size(), 0), static_cast<ssize_t>(words.size()));
  EXPECT_TRUE(Ended(silent));
  Until([](const Acceptor::Counts& c) { return c.open == 1; });
  EXPECT_EQ(acceptor_->counts().silent, 1);
}

// Whoever begins streams by the thousand and waits for none of them is cut off, with its other connections that do the same, and
// its address is not let in. A neighbour behind the same address that asks for little stays.
TEST_F(AcceptorTest, CutsOffFloods) {
  std::atomic<int> floods = 0;
  Start({.max_unanswered_streams = 100}, [&, streams = std::map<std::string, int64_t>()](const std::string& client) mutable {
    if (client.rfind("127.0.0.5:", 0) != 0) return std::optional<int64_t>();
    const bool few = floods == 0;  // until all are there
    return std::optional<int64_t>(streams[client] += few ? 1 : 90);
  });
  const int neighbour = Connect(0x7f000005), other = Connect();
  const std::vector<int> flooding = {Connect(0x7f000005), Connect(0x7f000005)};
  floods = 1;
  for (const int file : flooding) SendUntilEnded(file);
  Until([](const Acceptor::Counts& c) { return c.flooding == 2 && c.open == 2; });
  const int dropped = BeginToConnect(0x7f000005, SOCK_NONBLOCK);
  clients_.push_back(dropped);
  Connect();
  Until([](const Acceptor::Counts& c) { return c.open == 3; });
  tcp_info info{};
  socklen_t size = sizeof(info);
  ASSERT_EQ(getsockopt(dropped, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  EXPECT_EQ(info.tcpi_state, TCP_SYN_SENT);  // nobody answers it
  for (const int file : {neighbour, other}) EXPECT_EQ(send(file, "x", 1, MSG_NOSIGNAL), 1);
}

TEST_F(AcceptorTest, LetsAnAddressComeBackAfterAFlood) {
  std::atomic<bool> flood = true;
  const auto unanswered = [&, streams = int64_t{0}](const std::string&) mutable {
    return std::optional<int64_t>(streams += flood ? 90 : 0);
  };
  Start({.max_unanswered_streams = 100, .flood_refusal = std::chrono::milliseconds(100)}, unanswered);
  SendUntilEnded(Connect(0x7f000005));
  flood = false;
  Connect(0x7f000005);  // tries again after a second
  Until([](const Acceptor::Counts& c) { return c.accepted >= 2 && c.open == 1; });
}

// gRPC may serve a connection on the thread that hands it over, as long as more comes. Somebody must go on looking.
TEST_F(AcceptorTest, CutsOffAFloodThatKeepsWhoTookIt) {
  const auto unanswered = [streams = int64_t{0}](const std::string&) mutable { return std::optional<int64_t>(streams += 90); };
  const auto serve = [](int file) {
    std::string words(8192, '\0');
    pollfd wanted = {file, POLLIN, 0};
    while (poll(&wanted, 1, -1) == 1 && recv(file, words.data(), words.size(), 0) > 0) {
    }
  };
  Start({.max_unanswered_streams = 100}, unanswered, serve);
  SendUntilEnded(Connect(0x7f000005));
  Until([](const Acceptor::Counts& c) { return c.flooding == 1 && c.open == 0; });
}

// Whoever leaves before it is its turn is not handed over, and holds no descriptor.
TEST_F(AcceptorTest, HandsOverNobodyWhoHasLeft) {
  std::mutex held;
  std::atomic<int> served = 0;
  {
    const std::lock_guard<std::mutex> hold(held);
    Start({}, nullptr, [&](int) {
      ++served;
      const std::lock_guard<std::mutex> wait(held);
    });
    for (int i = 1; i <= 4; ++i) {
      Connect();
      Until([i](const Acceptor::Counts& c) { return c.open == i; });
    }
    while (served == 0) std::this_thread::yield();
    for (const int i : {1, 2}) shutdown(clients_[i], SHUT_RDWR);
    Until([](const Acceptor::Counts& c) { return c.open == 2; });
    for (const int i : {1, 2}) EXPECT_TRUE(Ended(clients_[i]));
  }
  while (served < 2) std::this_thread::yield();
  acceptor_->Stop();
  EXPECT_EQ(served, 2);
}

// Descriptors run out: newcomers are turned away, nobody hangs, and afterwards all is as before.
TEST_F(AcceptorTest, SurvivesRunningOutOfDescriptors) {
  Start({});
  std::vector<int> pending;
  for (int i = 0; i < 8; ++i) pending.push_back(socket(AF_INET, SOCK_STREAM, 0));
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit none = limit;
  none.rlim_cur = static_cast<rlim_t>(*std::max_element(pending.begin(), pending.end())) + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_addr.s_addr = htonl(0x7f000001);
  server.sin_port = htons(static_cast<uint16_t>(acceptor_->port()));
  for (const int file : pending) {
    EXPECT_EQ(connect(file, reinterpret_cast<sockaddr*>(&server), sizeof(server)), 0);
    EXPECT_TRUE(Ended(file));
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_GE(acceptor_->counts().out_of_descriptors, 8);
  for (const int file : pending) close(file);
  Connect();
  Until([](const Acceptor::Counts& c) { return c.open == 1; });
}

TEST_F(AcceptorTest, TwoDoNotShareAPort) {
  Start({});
  ListenAddress same = *ParseListenAddress("127.0.0.1:0");
  same.port = acceptor_->port();
  EXPECT_EQ(Acceptor::Listen(same, {}).status().code(), absl::StatusCode::kUnavailable);
}

// A probe is content with nothing less than the server's first words.
TEST_F(AcceptorTest, AProbeTellsAcceptingFromAnswering) {
  Start({});
  EXPECT_FALSE(ProbeOnce("127.0.0.1", acceptor_->port(), false, std::chrono::milliseconds(50)));
  EXPECT_TRUE(ProbeOnce("127.0.0.1", acceptor_->port(), true, std::chrono::milliseconds(1000)));
  const int port = acceptor_->port();
  acceptor_.reset();
  EXPECT_FALSE(ProbeOnce("127.0.0.1", port, true, std::chrono::milliseconds(1000)));
}

}  // namespace
}  // namespace eipc::rpc
