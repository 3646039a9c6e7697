#ifndef EIPC_SIM_BASE_STATUS_MACROS_H_
#define EIPC_SIM_BASE_STATUS_MACROS_H_

// Early returns for absl::Status and absl::StatusOr. No exceptions leave sim/.

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define EIPC_RETURN_IF_ERROR(expr)               \
  do {                                           \
    absl::Status eipc_status_ = (expr);          \
    if (!eipc_status_.ok()) return eipc_status_; \
  } while (false)

#define EIPC_CONCAT_INNER_(a, b) a##b
#define EIPC_CONCAT_(a, b) EIPC_CONCAT_INNER_(a, b)
#define EIPC_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                                \
  if (!tmp.ok()) return tmp.status();               \
  lhs = std::move(tmp).value()
#define EIPC_ASSIGN_OR_RETURN(lhs, expr) EIPC_ASSIGN_OR_RETURN_IMPL_(EIPC_CONCAT_(eipc_status_or_, __LINE__), lhs, expr)

#endif  // EIPC_SIM_BASE_STATUS_MACROS_H_
