#ifndef EIPC_SERVER_RPC_HANDLERS_REASON_H_
#define EIPC_SERVER_RPC_HANDLERS_REASON_H_

#include <string>

#include "absl/status/status.h"

namespace eipc::rpc {

// Makes a status fit for the wire: `REASON: text` in UTF-8, a question mark for what is none (bytes of a file that are quoted).
// Statuses that name no reason get their code's name for one. Texts longer than what HTTP/2 peers take as a header are cut at a
// line, and say so.
absl::Status ForWire(const absl::Status& status);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_REASON_H_
