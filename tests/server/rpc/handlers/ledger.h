#ifndef EIPC_TESTS_SERVER_RPC_HANDLERS_LEDGER_H_
#define EIPC_TESTS_SERVER_RPC_HANDLERS_LEDGER_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace eipc::rpc::testing {

using Engine = std::mt19937_64;

// Digests of states by scene and step. All callers step with kDt and without targets, so a scene has one state at each step,
// however a session came to it: stepped, forked, restored, reset or recovered. Thread-safe.
class Digests {
 public:
  void Saw(const std::string& scene, int64_t step, const std::string& digest);
  std::map<std::pair<std::string, int64_t>, std::string> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int64_t>, std::string> digests_;
};

// What answers to one tenant's callers have said. Thread-safe.
class Ledger {
 public:
  void AddSession(const std::string& name, const std::string& scene, bool mortal);
  // Somebody is about to delete it: from now on it may be gone.
  void Doom(const std::string& session);
  bool Doomed(const std::string& session) const;
  std::string SceneOf(const std::string& session) const;
  std::set<std::string> Immortal() const;

  // Other names: "scene", "snapshot", "operation".
  void Add(const std::string& kind, const std::string& name);
  // Any that was ever there; empty when there was none. Sessions are a kind, too.
  std::string Any(const std::string& kind, Engine* random) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> names_;
  std::map<std::string, std::string> scene_of_session_;
  std::set<std::string> doomed_;
};

}  // namespace eipc::rpc::testing

#endif  // EIPC_TESTS_SERVER_RPC_HANDLERS_LEDGER_H_
