#include "server/rpc/listen/accept_guard.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "server/os/spare_descriptor.h"

namespace eipc::rpc {
namespace {

std::atomic<int64_t> turned_away = 0;

int SystemAccept(int file, sockaddr* address, socklen_t* length, int flags) {
  return static_cast<int>(syscall(SYS_accept4, file, address, length, flags));
}

// Accepts a connection that waits and closes it.
int TurnAway(int file) {
  return WithSpareDescriptor([file] {
    const int accepted = SystemAccept(file, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) return -1;
    close(accepted);
    ++turned_away;
    return 0;
  });
}

}  // namespace

void GuardAccepts() { HoldSpareDescriptor(); }

int64_t ConnectionsWithoutDescriptor() { return turned_away; }

}  // namespace eipc::rpc

// All that wait are turned away: who waits for events on the socket is not told of them again. What then remains is reported as if
// the connection had gone, after which callers wait for the next.
extern "C" __attribute__((visibility("default"))) int accept4(int file, sockaddr* address, socklen_t* length, int flags) {
  const socklen_t room = length == nullptr ? 0 : *length;
  while (true) {
    const int accepted = eipc::rpc::SystemAccept(file, address, length, flags);
    if (accepted >= 0 || (errno != EMFILE && errno != ENFILE)) return accepted;
    if (eipc::rpc::TurnAway(file) < 0) {
      if (errno == EMFILE || errno == ENFILE) errno = ECONNABORTED;
      return -1;
    }
    if (length != nullptr) *length = room;
  }
}
