#include <algorithm>
#include <string>

#include "server/rpc/handlers/calls.h"
#include "server/session/checksum.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status GetRecording(Services& services, const CallContext& context, const v1::GetRecordingRequest& request,
                          const std::function<bool(const v1::DataChunk&)>& write) {
  constexpr size_t kChunk = 1 << 20;
  std::string recording;
  {
    EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                          services.sessions.Acquire(request.session(), context.budget, context.tenant));
    session->Touch();
    if (session->log() == nullptr) return absl::FailedPreconditionError("NOT_RECORDED: the session was created without `record`");
    EIPC_ASSIGN_OR_RETURN(recording, session->log()->Recording());
  }
  v1::DataChunk chunk;
  for (size_t offset = 0; offset < recording.size(); offset += kChunk) {
    EIPC_RETURN_IF_ERROR(context.budget.Poll());
    chunk.set_offset(static_cast<int64_t>(offset));
    chunk.set_total_bytes(static_cast<int64_t>(recording.size()));
    chunk.set_data(recording.substr(offset, kChunk));
    chunk.set_crc32(Crc32(chunk.data()));
    if (!write(chunk)) break;
  }
  return absl::OkStatus();
}

}  // namespace eipc::rpc
