#include <algorithm>
#include <string>

#include "server/rpc/handlers/calls.h"
#include "server/session/checksum.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::StatusOr<std::string> GetRecording(Services& services, const CallContext& context, const v1::GetRecordingRequest& request) {
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                        services.sessions.Acquire(request.session(), context.budget, context.tenant, FifoGate::Use::kRead));
  session->Touch();
  if (session->log() == nullptr) return absl::FailedPreconditionError("NOT_RECORDED: the session was created without `record`");
  return session->log()->Recording();
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
