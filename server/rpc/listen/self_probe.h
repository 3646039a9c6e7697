#ifndef EIPC_SERVER_RPC_LISTEN_SELF_PROBE_H_
#define EIPC_SERVER_RPC_LISTEN_SELF_PROBE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace eipc::rpc {

// Connects to `host`:`port` and waits for the server's first words: of HTTP/2 (its settings), or only to be accepted when it speaks
// TLS. From another loopback address than clients use, so that their number does not stand in its way.
bool ProbeOnce(const std::string& host, int port, bool tls, std::chrono::milliseconds timeout);

// Asks the server through its own listener, again and again, whether it still answers.
class SelfProbe {
 public:
  struct Options {
    std::string host;
    int port = 0;
    bool tls = false;
    std::chrono::milliseconds interval{2000};
    std::chrono::milliseconds timeout{1000};
    // So many failures in a row make the server unhealthy.
    int patience = 3;
  };
  // `changed` is told when the server becomes healthy or unhealthy.
  SelfProbe(Options options, std::function<void(bool healthy)> changed);
  ~SelfProbe();
  int64_t failures() const { return failures_; }

 private:
  void Loop();
  const Options options_;
  const std::function<void(bool)> changed_;
  std::atomic<int64_t> failures_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_SELF_PROBE_H_
