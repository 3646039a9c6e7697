#ifndef EIPC_SERVER_SESSION_ANSWER_ROOM_H_
#define EIPC_SERVER_SESSION_ANSWER_ROOM_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/session/memory_budget.h"

namespace eipc {

// Bounds what answers take that their clients have not read: in all, and of one tenant half of it, so that a client that asks and
// does not read costs its own tenant further answers, and nobody else.
//
// Room is reserved before an answer is made. A tenant's answers up to kAlways bytes always have it, so that running sessions go on,
// and beside them one answer of any size that can be sent: a small one that its client has read just now may still be counted.
class AnswerRoom {
 public:
  static constexpr int64_t kAlways = int64_t{1} << 20;
  // What one call may reserve: an answer of 2 GiB, which is the most that protobuf writes, as a message and serialized.
  static constexpr int64_t kMostOfCall = 2 * int64_t{INT32_MAX};

  // What one call has reserved, given back when destroyed. Reserve may be called by several threads at once.
  class Share {
   public:
    // Of this tenant. The room outlives it.
    Share(AnswerRoom* room, std::string tenant) : room_(room), tenant_(std::move(tenant)) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { SetTo(0); }
    // RESOURCE_EXHAUSTED (UNREAD_ANSWERS) when that many more bytes do not fit; with 0 bytes, when the tenant has too many already;
    // ANSWER_TOO_LARGE when it is more than kMostOfCall.
    absl::Status Reserve(int64_t bytes);
    // Sets aside in the budget what a part of the answer that was reserved takes, as pictures do, which may be far larger than what
    // they show: until SetTo. RESOURCE_EXHAUSTED (MEMORY_BUDGET) when it does not fit.
    absl::Status Take(int64_t bytes, const std::string& what, MemoryBudget* budget);
    // What an answer takes that exists: it may exceed the room.
    void SetTo(int64_t bytes);

   private:
    friend class AnswerRoom;
    AnswerRoom* const room_;
    const std::string tenant_;
    // Guarded by the room's mutex_.
    int64_t bytes_ = 0;
    MemoryBudget::Share memory_;
  };

  explicit AnswerRoom(int64_t bytes) : bytes_(bytes) {}
  AnswerRoom(const AnswerRoom&) = delete;
  AnswerRoom& operator=(const AnswerRoom&) = delete;

  int64_t used() const;

 private:
  bool Fits(const Share& share, int64_t bytes) const;  // requires mutex_
  void Change(Share* share, int64_t bytes);            // requires mutex_

  const int64_t bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, int64_t> held_;
  int64_t used_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_ANSWER_ROOM_H_
