#ifndef EIPC_SERVER_AGONES_LIFECYCLE_H_
#define EIPC_SERVER_AGONES_LIFECYCLE_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "server/rpc/telemetry/event.h"

namespace eipc {

// Sends Agones the state of the server, from a thread of its own that no solve can hold up: Ready once it takes work, Health at
// an interval, Allocate when its first session begins (so that no autoscaler ends it), Ready again when its last has ended, and
// Shutdown after the drain. What the SDK does not take is sent again at the next poll.
class AgonesLifecycle {
 public:
  struct Options {
    // Posts to a path of the SDK (AgonesSdk::Post).
    std::function<absl::Status(const std::string& path)> post;
    // Whether the server takes work: not while it recovers or drains.
    std::function<bool()> takes_work;
    // Sessions that there are.
    std::function<int()> sessions;
    std::chrono::milliseconds health_interval{2000};
    // How often sessions are counted.
    std::chrono::milliseconds poll_interval{100};
    rpc::EventSink events;  // may be empty
  };

  explicit AgonesLifecycle(Options options);
  // Stops the thread; sends no shutdown.
  ~AgonesLifecycle();

  // The server has drained: Health calls end, and Shutdown is called, three times at most.
  void Shutdown();

 private:
  enum class State { kUnknown, kReady, kAllocated };

  void Loop();
  // Sends what is due now; without the lock.
  void Poll(bool health_due);
  bool Send(const std::string& path);
  void Stop();

  const Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;              // guarded by mutex_
  State state_ = State::kUnknown;  // that Agones has been sent; the thread's
  bool failing_ = false;           // the thread's, then Shutdown's: the last call failed, which has been logged
  std::thread thread_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_AGONES_LIFECYCLE_H_
