#ifndef EIPC_SERVER_RPC_LISTEN_ACCEPTOR_H_
#define EIPC_SERVER_RPC_LISTEN_ACCEPTOR_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "server/rpc/listen/listen_address.h"

namespace eipc::rpc {

// Accepts connections in front of gRPC, which does not survive running out of descriptors (CVE-2023-4785 in 1.51) and has no bounds
// of its own: at most so many connections in all, safely below the limit of descriptors, and from one address; those beyond are
// closed at once. A connection that says nothing within the handshake timeout is closed. When descriptors run out all the same, one
// kept in reserve serves to turn newcomers away until there are some again. Clients that begin streams only to reset them
// (CVE-2023-44487), which costs gRPC far more than them and holds up everybody's calls, are cut off, and their address is refused
// for some seconds: by the kernel, so that attempts cost nothing.
//
// Each connection that is handed on keeps a duplicate here, by which its end is seen and counted.
class Acceptor {
 public:
  struct Options {
    // 0: what the limit of descriptors allows, at most 1024.
    int max_connections = 0;
    int max_per_peer = 256;
    std::chrono::milliseconds handshake_timeout{10000};
    // Streams a second that one address may begin and not wait for; a burst of half as many is free. 0: no bound.
    int max_unanswered_streams = 1000;
    // For so long an address whose connection was cut off for that is refused.
    std::chrono::milliseconds flood_refusal{5000};
  };
  struct Counts {
    int64_t accepted = 0;
    int64_t refused_total = 0;
    int64_t refused_peer = 0;
    int64_t silent = 0;
    int64_t flooding = 0;
    int64_t out_of_descriptors = 0;
    int open = 0;
  };

  // Listens. UNAVAILABLE when the address cannot be had.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Listen(const ListenAddress& address, const Options& options);
  ~Acceptor();

  // How many streams of a client ("127.0.0.1:4711", "[::1]:4711") are without an answer so far, where that is known.
  using Unanswered = std::function<std::optional<int64_t>(const std::string& client)>;
  // Begins to accept: `hand_over` owns each descriptor it is given. It is called by a thread of its own, which it may keep: gRPC
  // serves a connection right there for as long as more and more comes over it. `unanswered` may be empty.
  void Start(std::function<void(int)> hand_over, Unanswered unanswered = nullptr);
  // Accepts no more; connections that are open go on.
  void Stop();

  int port() const { return port_; }
  int max_connections() const { return max_connections_; }
  Counts counts() const;

 private:
  struct Connection {
    std::string peer;    // address
    std::string client;  // address and port
    std::chrono::steady_clock::time_point since;
    bool spoken = false;
    // When it was last looked at: received, and streams without an answer.
    uint64_t bytes = 0;
    int64_t unanswered = 0;
    double recently = 0;  // those of the last looks, the less the longer ago
  };
  struct Peer {
    int open = 0;
    double unanswered = 0;  // streams; so many as are allowed are forgotten every second
    std::chrono::steady_clock::time_point refused_until;
  };
  struct Newcomer {
    int file = -1;  // to be handed over
    int ours = -1;  // its duplicate
  };
  Acceptor(int listener, int port, const Options& options);
  void Loop();
  void HandOverAll();
  void AcceptAll();
  void TakeIn(int file, const std::string& peer, int port);
  bool TurnAwayWithReserve();
  void Closed(int file);
  void Forget(int ours);
  void EndSilentOnes();
  void EndFloods(double seconds);
  void DropRefused(std::chrono::steady_clock::time_point now);
  double NewlyUnanswered(int file, Connection* connection) const;

  const Options options_;
  int listener_;
  const int port_;
  int max_connections_;
  int poll_ = -1;
  int wake_ = -1;
  int reserve_ = -1;
  std::function<void(int)> hand_over_;
  Unanswered unanswered_;
  std::thread thread_, hand_over_thread_;
  std::atomic<bool> stop_ = false;
  // Between the two threads.
  std::mutex mutex_;
  std::condition_variable wake_hand_over_;
  std::deque<Newcomer> to_hand_over_;  // guarded by mutex_
  bool stop_handing_over_ = false;     // guarded by mutex_
  // The first thread's own.
  std::map<int, Connection> connections_;  // by our duplicate
  std::map<std::string, Peer> peers_;      // those with connections, or that are refused
  std::vector<std::string> dropped_;       // those that are refused, for the kernel
  bool watchful_ = false;
  // Read by others.
  std::atomic<int64_t> accepted_ = 0, refused_total_ = 0, refused_peer_ = 0, silent_ = 0, flooding_ = 0, out_of_descriptors_ = 0;
  std::atomic<int> open_ = 0;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_ACCEPTOR_H_
