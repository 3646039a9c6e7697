#include "server/rpc/listen/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rpc/listen/source_filter.h"

namespace eipc::rpc {
namespace {

// Descriptors for everything that is no connection: logs, journals, meshes being read, gRPC's own.
constexpr int kSpareDescriptors = 128;
constexpr int kDescriptorsPerConnection = 2;  // gRPC's and our duplicate
constexpr int kMostConnections = 1024;
constexpr int kBacklog = 512;
constexpr int kSweepMs = 500;
// How often floods are looked for, and how often while somebody begins streams without waiting for them.
constexpr int kLookMs = 50;
constexpr int kWatchfulLookMs = 20;
// A connection that received no more than this since the last look, and had no more that gRPC has not read, has hardly begun
// streams.
constexpr uint64_t kFewBytes = 4096;
// What an address is allowed in so many seconds it may begin at once.
constexpr double kFreeBurstS = 0.5;
// Of what its address is allowed in a second, a connection that floods has had at least this lately.
constexpr double kGuiltyShare = 0.05;
// After so long half of what a connection had lately counts.
constexpr double kHalfLifeS = 0.05;
// What an HTTP/2 client says first is longer than this, and so is a TLS hello.
constexpr int kFirstWords = 24;

int AllowedConnections(int asked) {
  rlimit limit{};
  int most = kMostConnections;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    most = static_cast<int>(std::min<rlim_t>(
        kMostConnections * 64, (limit.rlim_cur - std::min<rlim_t>(limit.rlim_cur, kSpareDescriptors)) / kDescriptorsPerConnection));
  }
  return std::max(1, asked > 0 ? std::min(asked, most) : std::min(most, kMostConnections));
}

// Closes so that no state stays behind on our side.
void Reset(int file) {
  const linger now = {1, 0};
  setsockopt(file, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  close(file);
}

std::string PeerOf(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof(text));
  } else if (address.ss_family == AF_INET6) {
    const in6_addr& bytes = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&bytes);
    inet_ntop(mapped ? AF_INET : AF_INET6, bytes.s6_addr + (mapped ? 12 : 0), text, sizeof(text));
  }
  return text;
}

int PortOf(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                                            : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

int BoundPort(int file) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return PortOf(address);
}

// At once, with what it has sent and nobody has read yet.
void CutOff(int file) {
  sockaddr nowhere{};
  nowhere.sa_family = AF_UNSPEC;
  connect(file, &nowhere, sizeof(nowhere));
}

void Watch(int poll, int file, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = file;
  epoll_ctl(poll, EPOLL_CTL_ADD, file, &event);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Listen(const ListenAddress& address, const Options& options) {
  const std::string bare =
      address.host.size() > 2 && address.host.front() == '[' ? address.host.substr(1, address.host.size() - 2) : address.host;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = absl::StrCat(address.port);
  if (const int error = getaddrinfo(bare.c_str(), port.c_str(), &hints, &found); error != 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", address.host, ": ", gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  int failure = 0;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int file = socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol);
    if (file < 0) continue;
    const int on = 1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(file, one->ai_addr, one->ai_addrlen) == 0 && listen(file, kBacklog) == 0) {
      return std::unique_ptr<Acceptor>(new Acceptor(file, BoundPort(file), options));
    }
    failure = errno;
    close(file);
  }
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address.host, ":", address.port, ": ", std::strerror(failure)));
}

Acceptor::Acceptor(int listener, int port, const Options& options)
    : options_(options), listener_(listener), port_(port), max_connections_(AllowedConnections(options.max_connections)) {}

Acceptor::~Acceptor() {
  Stop();
  for (const auto& [file, connection] : connections_) close(file);
  for (const int file : {listener_, poll_, wake_, reserve_}) {
    if (file >= 0) close(file);
  }
}

void Acceptor::Start(std::function<void(int)> hand_over, Unanswered unanswered) {
  hand_over_ = std::move(hand_over);
  if (options_.max_unanswered_streams > 0) unanswered_ = std::move(unanswered);
  poll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  reserve_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  Watch(poll_, listener_, EPOLLIN);
  Watch(poll_, wake_, EPOLLIN);
  thread_ = std::thread([this] { Loop(); });
  hand_over_thread_ = std::thread([this] { HandOverAll(); });
}

void Acceptor::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_handing_over_ = true;
  }
  wake_hand_over_.notify_one();
  hand_over_thread_.join();  // while the other looks: a flood that keeps this one is ended
  stop_ = true;
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
  thread_.join();
  close(std::exchange(listener_, -1));
  for (const Newcomer& newcomer : to_hand_over_) Reset(newcomer.file);
  to_hand_over_.clear();
}

Acceptor::Counts Acceptor::counts() const {
  return {accepted_, refused_total_, refused_peer_, silent_, flooding_, out_of_descriptors_, open_};
}

void Acceptor::Loop() {
  std::vector<epoll_event> events(256);
  auto swept = std::chrono::steady_clock::now(), looked = swept;
  while (!stop_) {
    const bool looks = unanswered_ && !connections_.empty();
    const int look_ms = watchful_ ? kWatchfulLookMs : kLookMs;
    const int ready = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), looks ? look_ms : kSweepMs);
    bool newcomers = false;
    // Ends first: they make room.
    for (int i = 0; i < ready; ++i) {
      const int file = events[i].data.fd;
      if (file == listener_) newcomers = true;
      if (file != listener_ && file != wake_) Closed(file);
    }
    if (newcomers) AcceptAll();
    const auto now = std::chrono::steady_clock::now();
    if (unanswered_ && now - looked >= std::chrono::milliseconds(look_ms)) {
      EndFloods(std::chrono::duration<double>(now - looked).count());
      looked = now;
    }
    if (now - swept > std::chrono::milliseconds(kSweepMs)) {
      EndSilentOnes();
      swept = now;
    }
  }
}

void Acceptor::AcceptAll() {
  // Bounded, so that a flood does not keep ends from being seen.
  for (int i = 0; i < kBacklog && !stop_; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    const int file = accept4(listener_, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (file >= 0) {
      TakeIn(file, PeerOf(address), PortOf(address));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS) return;
    ++out_of_descriptors_;
    if (!TurnAwayWithReserve()) {
      // Nothing can be done but wait for others to close theirs.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
  }
}

bool Acceptor::TurnAwayWithReserve() {
  if (reserve_ >= 0) close(std::exchange(reserve_, -1));
  const int file = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (file >= 0) Reset(file);
  reserve_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return file >= 0;
}

void Acceptor::TakeIn(int file, const std::string& peer, int port) {
  if (static_cast<int>(connections_.size()) >= max_connections_) {
    ++refused_total_;
    return Reset(file);
  }
  const auto now = std::chrono::steady_clock::now();
  const auto known = peers_.find(peer);
  const bool too_many = options_.max_per_peer > 0 && known != peers_.end() && known->second.open >= options_.max_per_peer;
  if (too_many || (known != peers_.end() && known->second.refused_until > now)) {
    ++refused_peer_;
    return Reset(file);
  }
  (void)DropNothing(file);  // it has the listener's
  const int ours = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (ours < 0) {
    ++out_of_descriptors_;
    return Reset(file);
  }
  const int on = 1;
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ++peers_[peer].open;
  const bool v6 = peer.find(':') != std::string::npos;
  connections_[ours] = {peer, v6 ? absl::StrCat("[", peer, "]:", port) : absl::StrCat(peer, ":", port), now};
  Watch(poll_, ours, EPOLLRDHUP | EPOLLHUP | EPOLLERR);
  open_ = static_cast<int>(connections_.size());
  ++accepted_;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    to_hand_over_.push_back({file, ours});
  }
  wake_hand_over_.notify_one();
}

void Acceptor::HandOverAll() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_hand_over_.wait(lock, [this] { return stop_handing_over_ || !to_hand_over_.empty(); });
    if (stop_handing_over_) return;
    const int file = to_hand_over_.front().file;
    to_hand_over_.pop_front();
    lock.unlock();
    hand_over_(file);
    lock.lock();
  }
}

void Acceptor::Closed(int file) {
  const auto found = connections_.find(file);
  if (found == connections_.end()) return;
  Forget(file);
  const auto peer = peers_.find(found->second.peer);
  // One that floods is remembered until it may come back.
  const bool flooded = peer->second.unanswered > 0 || peer->second.refused_until > std::chrono::steady_clock::now();
  if (--peer->second.open == 0 && !flooded) peers_.erase(peer);
  connections_.erase(found);
  open_ = static_cast<int>(connections_.size());
  epoll_ctl(poll_, EPOLL_CTL_DEL, file, nullptr);  // while gRPC keeps its own descriptor, closing ours does not end the watch
  close(file);
}

// One that has left before it was handed over: those that stay need not wait for it.
void Acceptor::Forget(int ours) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto newcomer =
      std::find_if(to_hand_over_.begin(), to_hand_over_.end(), [ours](const Newcomer& n) { return n.ours == ours; });
  if (newcomer == to_hand_over_.end()) return;
  close(newcomer->file);
  to_hand_over_.erase(newcomer);
}

double Acceptor::NewlyUnanswered(int file, Connection* connection) const {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  int unread = 0;
  (void)ioctl(file, SIOCINQ, &unread);
  const uint64_t received = info.tcpi_bytes_received - connection->bytes;
  // What gRPC is still busy with may come to be counted long after it was received.
  if (received <= kFewBytes && static_cast<uint64_t>(unread) <= kFewBytes && connection->recently < 1) return 0;
  connection->bytes = info.tcpi_bytes_received;
  const int64_t unanswered = unanswered_(connection->client).value_or(connection->unanswered);
  return static_cast<double>(unanswered - std::exchange(connection->unanswered, unanswered));
}

void Acceptor::EndFloods(double seconds) {
  const double kept = std::exp2(-seconds / kHalfLifeS);
  for (auto& [file, connection] : connections_) {
    const double more = NewlyUnanswered(file, &connection);
    connection.recently = std::max(0.0, kept * connection.recently + more);
    peers_[connection.peer].unanswered += more;
  }
  const double allowed = options_.max_unanswered_streams;
  const auto now = std::chrono::steady_clock::now();
  for (auto& [file, connection] : connections_) {
    Peer& peer = peers_[connection.peer];
    // Others behind the same address may be innocent.
    if (peer.unanswered < (kFreeBurstS + seconds) * allowed || connection.recently < kGuiltyShare * allowed) continue;
    peer.refused_until = now + options_.flood_refusal;
    ++flooding_;
    CutOff(file);  // seen as its end
  }
  watchful_ = false;
  for (auto it = peers_.begin(); it != peers_.end();) {
    Peer& peer = it->second;
    watchful_ = watchful_ || peer.unanswered > 0;
    peer.unanswered = std::max(0.0, peer.unanswered - seconds * allowed);
    it = peer.open == 0 && peer.unanswered == 0 && peer.refused_until <= now ? peers_.erase(it) : std::next(it);
  }
  DropRefused(now);
}

void Acceptor::DropRefused(std::chrono::steady_clock::time_point now) {
  std::vector<std::string> refused;
  for (const auto& [address, peer] : peers_) {
    if (peer.refused_until > now) refused.push_back(address);
  }
  if (refused == dropped_) return;
  (void)DropSources(listener_, refused);  // without it they are refused one by one
  dropped_ = std::move(refused);
}

void Acceptor::EndSilentOnes() {
  const auto now = std::chrono::steady_clock::now();
  for (auto& [file, connection] : connections_) {
    if (connection.spoken || now - connection.since < options_.handshake_timeout) continue;
    tcp_info info{};
    socklen_t size = sizeof(info);
    connection.spoken = getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_bytes_received >= kFirstWords;
    if (connection.spoken) continue;
    ++silent_;
    shutdown(file, SHUT_RDWR);  // gRPC sees the end, and so do we
  }
}

}  // namespace eipc::rpc
