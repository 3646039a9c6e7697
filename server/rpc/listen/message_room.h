#ifndef EIPC_SERVER_RPC_LISTEN_MESSAGE_ROOM_H_
#define EIPC_SERVER_RPC_LISTEN_MESSAGE_ROOM_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace eipc::rpc {

// Bounds how many large messages arrive at once: gRPC assembles a message in memory before anybody sees how large it is, so room
// for the largest is set aside before the first byte is asked for. A call that finds none waits, without a thread.
//
// A tenant has at most half of the room, so that its slow senders do not stop the others.
class MessageRoom {
 public:
  using Clock = std::chrono::steady_clock;

  // Room set aside, given back when destroyed.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept {
      if (this != &other) {
        Return();
        room_ = std::exchange(other.room_, nullptr);
        tenant_ = std::move(other.tenant_);
        bytes_ = other.bytes_;
      }
      return *this;
    }
    ~Share() { Return(); }
    void Return() {
      if (room_ != nullptr) std::exchange(room_, nullptr)->Return(tenant_, bytes_);
    }

   private:
    friend class MessageRoom;
    Share(MessageRoom* room, std::string tenant, int64_t bytes) : room_(room), tenant_(std::move(tenant)), bytes_(bytes) {}
    MessageRoom* room_ = nullptr;
    std::string tenant_;
    int64_t bytes_ = 0;
  };
  using Ready = std::function<void(absl::StatusOr<Share>)>;

  explicit MessageRoom(int64_t bytes) : bytes_(bytes) {}
  MessageRoom(const MessageRoom&) = delete;
  MessageRoom& operator=(const MessageRoom&) = delete;

  // Calls `ready`, which must not block, with the room: at once, or on the thread that gives some back. After `patience` with
  // RESOURCE_EXHAUSTED (MESSAGE_MEMORY) instead.
  void Take(const std::string& tenant, int64_t bytes, Clock::duration patience, Ready ready);
  // Refuses those that have waited for too long; all of them, now and from now on, once stopped.
  void Expire(Clock::time_point now);
  void Stop();
  int64_t used() const;

 private:
  struct Waiter {
    std::string tenant;
    int64_t bytes = 0;
    Clock::time_point until;
    Ready ready;
  };
  bool Fits(const std::string& tenant, int64_t bytes) const;  // requires mutex_
  void Occupy(const std::string& tenant, int64_t bytes);      // requires mutex_
  void Return(const std::string& tenant, int64_t bytes);

  const int64_t bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::list<Waiter> waiting_;
  std::map<std::string, int64_t> held_;
  int64_t used_ = 0;
  bool stopped_ = false;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_MESSAGE_ROOM_H_
