#ifndef EIPC_SERVER_SESSION_RECOVER_H_
#define EIPC_SERVER_SESSION_RECOVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/session/action_log.h"
#include "server/session/session.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// The header of a journal.
absl::StatusOr<LogHeader> ReadLogHeader(const std::string& bytes);

struct RecoveredSession {
  std::unique_ptr<Session> session;
  // What taking its steps again took.
  double replay_s = 0;
  // The journal is of another build: the session went on from where that one had put it, its bits are not promised, and `note` says
  // what could not be had. The journal must begin anew.
  bool migrated = false;
  std::string note;
};

// The session of a journal, as it was after its last acknowledged step: the last states in it, the steps after them
// taken again and found to give the same digests, and the answers that may still be asked for. The steps of another build are taken
// again without comparing digests. DATA_LOSS (DIGEST_MISMATCH) when the bits of this build cannot be had again, errors of the
// budget.
absl::StatusOr<RecoveredSession> RecoverSession(SceneRegistry::Pin scene, const std::string& bytes, const StepBudget& budget = {});

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_RECOVER_H_
