#include "server/session/retry_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/session/access.h"
#include "server/session/ids.h"

namespace eipc {
namespace {

// In steps of this, so that answers of nearly the same size change nothing.
constexpr int64_t kStep = 1 << 10;

// No whole request can be taken for a digest: it begins with the tag of its session's name, which is no hex digit.
std::string DigestOf(std::string request) {
  const bool is_digest =
      request.size() == 64 && std::all_of(request.begin(), request.end(), [](char c) { return absl::ascii_isxdigit(c); });
  return is_digest ? std::move(request) : Sha256Hex(request);
}

}  // namespace

absl::StatusOr<const std::string*> RetryMemory::Find(const std::string& id, const std::string& request) const {
  if (id.size() > kMaxIdBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("INVALID_REQUEST: request_id: must have at most ", kMaxIdBytes, " bytes, got ", id.size()));
  }
  if (id.empty() || id != id_) return nullptr;
  if (DigestOf(request) != request_) {
    return absl::InvalidArgumentError(
        absl::StrCat("REQUEST_ID_REUSED: request_id: '", Printable(id), "' was the id of a different request"));
  }
  return &response_;
}

void RetryMemory::Remember(std::string id, std::string request, std::string response) {
  if (id.empty()) return Forget();
  id_.swap(id);
  request_ = DigestOf(std::move(request));
  response_.swap(response);  // an assignment of a short answer would keep the room of a long one
  Count();
}

void RetryMemory::Forget() {
  if (id_.empty()) return;
  id_ = {};
  request_ = {};
  response_ = {};
  Count();
}

void RetryMemory::CountIn(KeptMemory memory) {
  memory_ = std::move(memory);
  Count();
}

void RetryMemory::Count() {
  const auto bytes = static_cast<int64_t>(id_.size() + request_.size() + response_.capacity());
  memory_.SetTo(id_.empty() ? 0 : (bytes + kStep - 1) / kStep * kStep);
}

}  // namespace eipc
