#ifndef EIPC_SERVER_RPC_HANDLERS_PAGING_H_
#define EIPC_SERVER_RPC_HANDLERS_PAGING_H_

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace eipc::rpc {

// How many entries a page should have. Pages are in order of names; a page's token is the last name of the page before.
inline absl::StatusOr<int> PageSize(int asked) {
  constexpr int kDefaultPage = 50;
  constexpr int kMaxPage = 1000;
  if (asked < 0) return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: page_size: must be >= 0, got ", asked));
  return asked == 0 ? kDefaultPage : std::min(asked, kMaxPage);
}

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_PAGING_H_
