#ifndef EIPC_CLIENT_CPP_CLIENT_H_
#define EIPC_CLIENT_CPP_CLIENT_H_

// A client of an eipc server.
//
//   auto client = eipc::client::Client::Connect("127.0.0.1:50051");
//   auto source = eipc::client::SceneSource::FromFile("models/scenes/bubble_teddy_low_sound.textproto");
//   auto scene = client->CreateScene(*source);
//   auto session = client->CreateSession(scene->name);
//   auto now = session->Step(0.01, {.targets = {{"left_bubble", "rim", pose}}, .observe = {.contact_wrenches = true}});
//
// Every call returns a status with the server's code; its message starts with the server's stable reason, as in
// `STEP_MISMATCH: expected_step is 3, but the session is at step 4`. Objects may be used from one thread at a time.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/reset.h"
#include "client/cpp/scene_source.h"
#include "client/cpp/stacked.h"
#include "client/cpp/types.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace eipc::client {

struct Connection;

// Steps sent one after another without waiting: exactly one answer each, in order. A failed step is answered with its status and
// the stream continues.
class StepStream {
 public:
  StepStream(StepStream&&) noexcept;
  StepStream& operator=(StepStream&&) noexcept;
  // Cancels the requests that are still in flight.
  ~StepStream();

  // UNAVAILABLE or the stream's status when it has ended. Keep a few requests in flight, not hundreds: when no thread receives, the
  // server stops reading and Send waits.
  absl::Status Send(double dt_s, const StepOptions& options = {});
  // The answer to the oldest request without one: waits for it. OUT_OF_RANGE when the server ended the stream in good order.
  absl::StatusOr<Observation> Receive();
  // Send and Receive.
  absl::StatusOr<Observation> Step(double dt_s, const StepOptions& options = {});
  // No more requests; the stream's status. Answers not yet received are dropped.
  absl::Status Finish();

 private:
  friend class Session;
  struct Impl;
  explicit StepStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A running copy of a scene on the server. It stays there until deleted.
class Session {
 public:
  const std::string& name() const { return name_; }

  absl::StatusOr<Observation> Step(double dt_s, const StepOptions& options = {});
  // World 0 back to the scene's start.
  absl::StatusOr<Observation> Reset(const Observe& observe = {});
  // A world to a start of its own. FAILED_PRECONDITION (NO_FREE_START) where surfaces meet, INVALID_ARGUMENT for what a reset
  // cannot change, UNIMPLEMENTED when the server is too old for materials; the world then is where it was.
  absl::StatusOr<Observation> Reset(const ResetOptions& options);
  absl::StatusOr<Observation> GetState(const Observe& observe = {}, int world = 0);
  StepStream OpenStream();
  // Every bit of a world, for Restore here or in any server of the same build.
  absl::StatusOr<std::string> Snapshot(int world = 0);
  // Goes on from a snapshot bit for bit. INVALID_ARGUMENT (SNAPSHOT_CORRUPT) or FAILED_PRECONDITION (SNAPSHOT_FOREIGN).
  absl::StatusOr<Observation> Restore(const std::string& snapshot, const Observe& observe = {}, int world = 0);
  // A new session of `worlds` copies of one world of this one.
  absl::StatusOr<Session> Fork(int worlds = 1, int world = 0);
  // Steps many worlds in parallel; the outcome of each, in the order given.
  absl::StatusOr<std::vector<absl::StatusOr<Observation>>> StepBatch(double dt_s, const std::vector<StepOptions>& steps);
  // The same, with one array a quantity for all worlds in place of an observation of each; the steps' own `observe` does not count.
  // UNIMPLEMENTED when the server is too old, before a world moves.
  absl::StatusOr<StackedObservations> StepStacked(double dt_s, const std::vector<StepOptions>& steps,
                                                  const StackOptions& stack = {});
  // What a session created with `record` has done, for a file that `eipc verify` replays.
  absl::StatusOr<std::string> Recording();
  absl::Status Delete();

 private:
  friend class Client;
  Session(std::shared_ptr<Connection> connection, std::string name);
  std::shared_ptr<Connection> connection_;
  std::string name_;
};

class Client {
 public:
  struct Options {
    std::chrono::milliseconds connect_timeout{5000};
    // The deadline of every call but streams.
    std::chrono::milliseconds call_timeout{60000};
    // Says who calls, where the server wants to know; travels in the clear without TLS.
    std::string token;
    // Asked at every call for what to send along with it, such as {"traceparent", ...} of the caller's span (W3C Trace Context);
    // may be empty.
    std::function<std::vector<std::pair<std::string, std::string>>()> metadata;
    // PEM texts. With `tls_ca` the connection is encrypted and the server's certificate checked against it; certificate and key are
    // the client's own.
    std::string tls_ca;
    std::string tls_certificate;
    std::string tls_key;
  };

  // UNAVAILABLE when no server answers at `address` ("HOST:PORT").
  static absl::StatusOr<Client> Connect(const std::string& address) { return Connect(address, Options()); }
  static absl::StatusOr<Client> Connect(const std::string& address, const Options& options);
  // Over a channel that exists already.
  static Client FromChannel(std::shared_ptr<grpc::Channel> channel, const Options& options);

  // The same scene gives the same name. INVALID_ARGUMENT lists every problem, a line each.
  absl::StatusOr<SceneInfo> CreateScene(const SceneSource& scene);
  // Checks a scene without keeping it.
  absl::StatusOr<SceneInfo> ValidateScene(const SceneSource& scene);
  absl::StatusOr<SceneInfo> GetScene(const std::string& name);
  absl::StatusOr<std::vector<SceneInfo>> ListScenes();
  absl::Status DeleteScene(const std::string& name);
  // Threads inside one step.
  absl::StatusOr<Session> CreateSession(const std::string& scene, int threads = 1) {
    return CreateSession(scene, SessionOptions{.threads = threads});
  }
  absl::StatusOr<Session> CreateSession(const std::string& scene, const SessionOptions& options);
  // A session that the server has, for example after a restart. NOT_FOUND.
  absl::StatusOr<Session> FindSession(const std::string& name);

 private:
  explicit Client(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  absl::StatusOr<SceneInfo> SendScene(const SceneSource& scene, bool validate_only);
  std::shared_ptr<Connection> connection_;
};

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_CLIENT_H_
