#ifndef EIPC_SERVER_RPC_LISTEN_HEALTH_STATE_H_
#define EIPC_SERVER_RPC_LISTEN_HEALTH_STATE_H_

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace eipc::rpc {

// The state of each service that health checks report.
class HealthState {
 public:
  // Is notified of changes, under the lock: it must not block, nor call back.
  class Watcher {
   public:
    virtual void Changed(const std::string& service, bool serving) = 0;

   protected:
    ~Watcher() = default;
  };

  void Set(const std::string& service, bool serving);
  // Absent when there is no such service.
  std::optional<bool> Get(const std::string& service) const;
  // From now on it is notified of changes; the state before them is returned.
  std::optional<bool> Add(Watcher* watcher, const std::string& service);
  void Remove(Watcher* watcher);

 private:
  std::optional<bool> Find(const std::string& service) const;  // requires mutex_
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, bool> serving_;
  std::list<Watcher*> watchers_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_HEALTH_STATE_H_
