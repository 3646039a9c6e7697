#ifndef EIPC_SERVER_SESSION_RECOVER_H_
#define EIPC_SERVER_SESSION_RECOVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/session/action_log.h"
#include "server/session/session.h"

namespace eipc {

// The header of a journal.
absl::StatusOr<LogHeader> ReadLogHeader(const std::string& bytes);

// The session that a journal tells of, as it was after its last acknowledged step: the last states in it, the steps after them
// taken again and found to give the same digests, and the answers that may still be asked for. FAILED_PRECONDITION
// (SNAPSHOT_FOREIGN) for another build, DATA_LOSS (DIGEST_MISMATCH) when the bits cannot be had again.
absl::StatusOr<std::unique_ptr<Session>> RecoverSession(SceneRegistry::Pin scene, const std::string& bytes);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_RECOVER_H_
