#include "server/session/retry_memory.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/session/ids.h"

namespace eipc {

absl::StatusOr<const std::string*> RetryMemory::Find(const std::string& id, const std::string& request) const {
  if (id.size() > kMaxIdBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("INVALID_REQUEST: request_id: must have at most ", kMaxIdBytes, " bytes, got ", id.size()));
  }
  if (id.empty() || id != id_) return nullptr;
  if (request != request_) {
    return absl::InvalidArgumentError(
        absl::StrCat("REQUEST_ID_REUSED: request_id: '", Printable(id), "' was the id of a different request"));
  }
  return &response_;
}

void RetryMemory::Remember(std::string id, std::string request, std::string response) {
  if (id.empty()) return Forget();
  id_ = std::move(id);
  request_ = std::move(request);
  response_ = std::move(response);
}

void RetryMemory::Forget() {
  id_.clear();
  request_.clear();
  response_.clear();
}

}  // namespace eipc
