#include <algorithm>
#include <string>

#include "server/rpc/handlers/calls.h"
#include "server/session/checksum.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::StatusOr<RecordingCopy> GetRecording(Services& services, const CallContext& context, const v1::GetRecordingRequest& request) {
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                        services.sessions.Acquire(request.session(), context.budget, context.tenant, FifoGate::Use::kRead));
  session->Touch();
  const SessionLog* const log = session->log();
  if (log == nullptr) return absl::FailedPreconditionError("NOT_RECORDED: the session was created without `record`");
  EIPC_RETURN_IF_ERROR(log->CheckRecording());
  RecordingCopy copy;
  EIPC_ASSIGN_OR_RETURN(copy.memory, services.tenant_memory.Take(context.tenant, static_cast<int64_t>(log->recorded_bytes()),
                                                                 "the copy of the recording"));
  EIPC_ASSIGN_OR_RETURN(copy.bytes, log->Recording());
  return copy;
}

bool NextPiece(const std::string& recording, v1::DataChunk* piece) {
  constexpr size_t kPiece = 1 << 20;
  const size_t offset = static_cast<size_t>(piece->offset()) + piece->data().size();
  if (offset >= recording.size()) return false;
  piece->set_offset(static_cast<int64_t>(offset));
  piece->set_total_bytes(static_cast<int64_t>(recording.size()));
  piece->set_data(recording.substr(offset, kPiece));
  piece->set_crc32(Crc32(piece->data()));
  return true;
}

}  // namespace eipc::rpc
