#include "server/rpc/listen/self_probe.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace eipc::rpc {
namespace {

// The connection preface of HTTP/2 and an empty SETTINGS frame (RFC 9113, 3.4).
constexpr char kHello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
constexpr size_t kHelloBytes = sizeof(kHello) - 1;
constexpr char kSettingsFrame = 4;

bool Ready(int file, short events, std::chrono::milliseconds timeout) {
  pollfd wanted = {file, events, 0};
  return poll(&wanted, 1, static_cast<int>(timeout.count())) == 1 && (wanted.revents & events) != 0;
}

// Where the server listens on every address, it is asked through loopback.
std::string Reachable(const std::string& host) {
  std::string bare = host.size() > 2 && host.front() == '[' ? host.substr(1, host.size() - 2) : host;
  if (bare == "0.0.0.0") return "127.0.0.1";
  if (bare == "::") return "::1";
  return bare;
}

// 127.0.0.2 as our own address, where we talk to 127.x.
void BindElsewhere(int file, const sockaddr* server) {
  if (server->sa_family != AF_INET) return;
  if ((ntohl(reinterpret_cast<const sockaddr_in*>(server)->sin_addr.s_addr) >> 24) != 127) return;
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(0x7f000002);
  (void)bind(file, reinterpret_cast<sockaddr*>(&own), sizeof(own));
}

bool Greet(int file, std::chrono::milliseconds timeout) {
  if (send(file, kHello, kHelloBytes, MSG_NOSIGNAL) != static_cast<ssize_t>(kHelloBytes)) return false;
  if (!Ready(file, POLLIN, timeout)) return false;
  char frame[9];
  return recv(file, frame, sizeof(frame), 0) == sizeof(frame) && frame[3] == kSettingsFrame;
}

}  // namespace

bool ProbeOnce(const std::string& host, int port, bool tls, std::chrono::milliseconds timeout) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(Reachable(host).c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  const int file = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file < 0) return false;
  BindElsewhere(file, found->ai_addr);
  bool ok = connect(file, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS;
  ok = ok && Ready(file, POLLOUT, timeout);
  int error = 0;
  socklen_t size = sizeof(error);
  ok = ok && getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  if (ok && !tls) ok = Greet(file, timeout);
  close(file);
  return ok;
}

SelfProbe::SelfProbe(Options options, std::function<void(bool healthy)> changed)
    : options_(std::move(options)), changed_(std::move(changed)), thread_([this] { Loop(); }) {}

SelfProbe::~SelfProbe() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void SelfProbe::Loop() {
  int in_a_row = 0;
  bool healthy = true;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!wake_.wait_for(lock, options_.interval, [this] { return stop_; })) {
    lock.unlock();
    const bool answered = ProbeOnce(options_.host, options_.port, options_.tls, options_.timeout);
    in_a_row = answered ? 0 : in_a_row + 1;
    if (!answered) ++failures_;
    if (const bool now = in_a_row < options_.patience; now != healthy) {
      healthy = now;
      changed_(healthy);
    }
    lock.lock();
  }
}

}  // namespace eipc::rpc
