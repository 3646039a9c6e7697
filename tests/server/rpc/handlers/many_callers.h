#ifndef EIPC_TESTS_SERVER_RPC_HANDLERS_MANY_CALLERS_H_
#define EIPC_TESTS_SERVER_RPC_HANDLERS_MANY_CALLERS_H_

// Callers that use a server's calls at random, for concurrency_test.cc.

#include <cstdint>
#include <string>
#include <vector>

#include "server/rpc/handlers/calls.h"
#include "tests/server/rpc/handlers/ledger.h"

namespace eipc::rpc::testing {

// Scenes that differ in their content, hence in their names.
inline constexpr int kScenes = 3;
v1::Scene RandomScene(Engine* random);
inline constexpr double kDt = 0.004;

// One thread of one tenant's. Every answer is checked against what the call may answer when others work on the same things.
class Caller {
 public:
  Caller(Services* services, Ledger* ledger, Digests* digests, std::string tenant, StepBudget budget, uint64_t seed);
  // One call, or a few that belong together.
  void Act();

 private:
  void MakeScene();
  void SeeScenes();
  void DropScene();
  void MakeSession();
  void StartFromSnapshot();
  void Fork();
  void TakeStep();
  void TakeStepOf(const std::string& session);
  void TakeStream();
  void TakeBatch();
  void TakeReset();
  void TakeRestore();
  void SeeState();
  void SeeSessions();
  void DropSession();
  void DropWhatAppears();
  void Reap();
  void MakeSnapshot();
  void SeeSnapshots();
  void DropSnapshot();
  void StartScene();
  void StartBatch();
  void SeeOperations();
  void EndOperation();
  void ReadRecording();
  void Upload();

  template <typename Request, typename Response>
  bool Call(const char* name, absl::Status (*call)(Services&, const CallContext&, const Request&, Response*),
            const Request& request, Response* response);
  // OK, or a code that is allowed. FAILED_PRECONDITION has to have one of the reasons that other callers can cause.
  bool Check(const char* name, const absl::Status& status);
  // The same for a call about a session: it is only missing when somebody deleted it.
  bool CheckSession(const char* name, const std::string& session, const absl::Status& status);
  void Note(const std::string& session, const v1::Observation& observation);
  v1::StepRequest StepOf(const std::string& session);
  v1::StepBatchRequest BatchOf(const std::string& session);
  v1::CreateSessionRequest SessionOf(const std::string& scene);
  std::string Any(const char* kind) { return ledger_->Any(kind, &random_); }
  bool Chance(int n) { return random_() % n == 0; }

  Services& services_;
  Ledger* const ledger_;
  Digests* const digests_;
  CallContext context_;
  Engine random_;
};

}  // namespace eipc::rpc::testing

#endif  // EIPC_TESTS_SERVER_RPC_HANDLERS_MANY_CALLERS_H_
