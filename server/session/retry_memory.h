#ifndef EIPC_SERVER_SESSION_RETRY_MEMORY_H_
#define EIPC_SERVER_SESSION_RETRY_MEMORY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/session/kept_memory.h"

namespace eipc {

// The last finished request of a session and what was answered, so that a client that lost the answer can ask again without moving
// the world. Of a request its SHA-256 is kept, in 64 hex digits; a caller that gives a whole request, as journals of earlier builds
// do, gives its digest. Responses are opaque bytes.
class RetryMemory {
 public:
  // The stored response when `id` is that of the last finished request; nullptr when it is another (or empty: not to be retried).
  // INVALID_ARGUMENT when the id is the same but the request is not.
  absl::StatusOr<const std::string*> Find(const std::string& id, const std::string& request) const;
  // Ids of at most this many bytes are kept.
  static constexpr size_t kMaxIdBytes = 128;
  void Remember(std::string id, std::string request, std::string response);
  void Forget();
  // What is remembered counts there from now on: it is there already, so it may be more than fits.
  void CountIn(KeptMemory memory);
  // Empty when there is none.
  const std::string& id() const { return id_; }
  const std::string& request() const { return request_; }
  const std::string& response() const { return response_; }

 private:
  void Count();

  std::string id_;
  std::string request_;
  std::string response_;
  KeptMemory memory_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_RETRY_MEMORY_H_
