#include "server/rpc/view/view_client.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/convert/viewer_scene.h"
#include "server/rpc/handlers/audit_call.h"
#include "server/rpc/handlers/reason.h"
#include "server/rpc/handlers/session_setup.h"
#include "server/session/guarded.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

constexpr char kService[] = "/eipc.v1.SimulationService/";
constexpr double kDefaultRate = 30, kMostRate = 120, kLeastRate = 1e-3;  // Hz; an interval has nanoseconds in 64 bits
constexpr std::chrono::seconds kLongestWait{10};

absl::Status Malformed(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", what)); }

// Whether this caller may call it now.
absl::Status Admit(const Method* method, const std::string& name, const ViewHost& host, const Caller& caller) {
  if (method == nullptr || method->kind != Method::Kind::kUnary) {
    return absl::UnimplementedError(absl::StrCat("UNIMPLEMENTED: '", Printable(name), "' is no unary method of the service"));
  }
  if (host.identified && caller.role == Role::kViewer && method->policy.least == MethodPolicy::Least::kOperator) {
    return absl::PermissionDeniedError(absl::StrCat("PERMISSION_DENIED: a viewer may not call ", method->label));
  }
  if (host.draining() && method->policy.draining == MethodPolicy::Draining::kRefused) {
    return absl::UnavailableError("SERVER_STOPPING: the server is stopping");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> WorldsOf(const v1::ViewerWatch& request, const Session& session) {
  std::vector<int> worlds(request.worlds().begin(), request.worlds().end());
  if (worlds.empty()) {
    worlds.resize(std::min(session.world_count(), ViewClient::kMostWorlds));
    std::iota(worlds.begin(), worlds.end(), 0);
  }
  if (static_cast<int>(worlds.size()) > ViewClient::kMostWorlds) return Malformed("worlds: at most 256");
  for (const int world : worlds) EIPC_RETURN_IF_ERROR(CheckWorld(session, world));
  std::sort(worlds.begin(), worlds.end());
  if (std::adjacent_find(worlds.begin(), worlds.end()) != worlds.end()) return Malformed("worlds: each at most once");
  return worlds;
}

}  // namespace

ViewClient::ViewClient(std::shared_ptr<const ViewHost> host, Caller caller, std::string peer, std::function<void()> wake)
    : host_(std::move(host)), caller_(std::move(caller)), peer_(std::move(peer)), wake_(std::move(wake)) {}

ViewClient::~ViewClient() { Close(); }

CallContext ViewClient::Context() const {
  CallContext context;
  context.budget.cancelled = [this] { return closed_.load(std::memory_order_relaxed); };
  context.tenant = caller_.tenant;
  context.role = caller_.role;
  context.identity = caller_.identity;
  context.identified = host_->identified;
  context.peer = peer_;
  context.request_id = RandomHex128().substr(0, 16);
  context.priority = SolvePriority::kInteractive;
  return context;
}

absl::Status ViewClient::Take(const std::string& message) {
  v1::ViewerRequest request;
  if (!request.ParseFromString(message) || request.id() == 0) return Malformed("this is no ViewerRequest with an id");
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // The page knows how many of its requests are open.
    if (pending_ >= kMostPending) {
      return absl::ResourceExhaustedError(absl::StrCat("TOO_MANY_REQUESTS: at most ", kMostPending, " requests may be open"));
    }
    ++pending_;
  }
  switch (request.action_case()) {
    case v1::ViewerRequest::kCall:
      return Call(request.id(), std::move(*request.mutable_call()));
    case v1::ViewerRequest::kWatch:
      if (message.size() > kMostWatchBytes) return Malformed("watch: longer than this server takes");
      Watch(request.id(), request.watch());
      return absl::OkStatus();
    case v1::ViewerRequest::kUnwatch:
      Reply(request.id(), Unwatch(request.unwatch()), "", nullptr);
      return absl::OkStatus();
    case v1::ViewerRequest::ACTION_NOT_SET:
      break;
  }
  return Malformed("action: must be call, watch or unwatch");
}

absl::Status ViewClient::Call(uint32_t id, v1::ViewerCall call) {
  const size_t bytes = call.request().size();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_bytes_ + bytes > kMostWaitingBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("TOO_MANY_REQUESTS: at most ", kMostWaitingBytes, " bytes of requests may wait"));
  }
  waiting_bytes_ += bytes;
  work_.push_back({id, std::move(call), host_->services->memory.Record(static_cast<int64_t>(bytes))});
  if (!working_) RunNext();
  return absl::OkStatus();
}

void ViewClient::RunNext() {
  working_ = !work_.empty();
  if (!working_) return;
  // The lock is not held when it runs: run never calls it here.
  const bool runs = host_->run(caller_.tenant, [self = shared_from_this()] {
    Work work;
    {
      const std::lock_guard<std::mutex> lock(self->mutex_);
      work = std::move(self->work_.front());
      self->work_.pop_front();
      self->waiting_bytes_ -= work.call.request().size();
    }
    self->Handle(work);
    const std::lock_guard<std::mutex> lock(self->mutex_);
    self->RunNext();
  });
  if (runs) return;
  working_ = false;
  work_.clear();
  closed_ = true;  // no thread to answer on: the transport ends the connection at the next tick
}

void ViewClient::Handle(const Work& work) {
  if (closed_) return;
  const auto begin = std::chrono::steady_clock::now();
  const std::string& name = work.call.method();
  const Method* const method = FindMethod(absl::StrCat(kService, name));
  CallContext context = Context();
  auto room = std::make_shared<AnswerRoom::Share>(&host_->services->answers, caller_.tenant);
  context.answer = room.get();
  std::string response;
  const absl::Status status = ForWire(Guarded([&]() -> absl::Status {
    EIPC_RETURN_IF_ERROR(Admit(method, name, *host_, caller_));
    EIPC_RETURN_IF_ERROR(room->Reserve(0));
    if (host_->services->metrics != nullptr) host_->services->metrics->CallStarted(method->label);
    EIPC_ASSIGN_OR_RETURN(response, Serve(*method, work.call.request(), context));
    return absl::OkStatus();
  }));
  if (method != nullptr) {
    Account(method->label, context, status, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  room->SetTo(static_cast<int64_t>(response.size()));
  Reply(work.id, status, std::move(response), std::move(room));
}

absl::StatusOr<std::string> ViewClient::Serve(const Method& method, const std::string& request, const CallContext& context) {
  // Objects of messages are larger than what they are on the wire: an empty one takes two bytes there. What is small always fits.
  constexpr int64_t kMostPerWireByte = 128, kSmall = 16 << 10;
  const auto bytes = static_cast<int64_t>(request.size());
  MemoryBudget::Share memory = host_->services->memory.Record(bytes <= kSmall ? kMostPerWireByte * bytes : 0);
  if (bytes > kSmall) EIPC_RETURN_IF_ERROR(memory.Grow(kMostPerWireByte * bytes, "the request"));
  const std::unique_ptr<google::protobuf::Message> message(method.handler.request().New());
  if (!message->ParseFromString(request)) return Malformed(absl::StrCat("this is no request of ", method.label));
  (void)TakeWait(message.get());  // a connection does not wait with its later calls
  const std::unique_ptr<google::protobuf::Message> response(method.handler.response().New());
  bool refused = false;
  const absl::Status status = method.handler.call(*host_->services, context, *message, response.get(), &refused);
  if (host_->audit != nullptr) {
    if (std::optional<AuditEntry> entry = AuditedCall(method.audit, method.label, message.get(), response.get())) {
      AddCaller(context, &*entry);
      entry->code = absl::StatusCodeToString(status.code());
      host_->audit->Write(*entry);
    }
  }
  if (!status.ok()) return status;
  return response->SerializeAsString();
}

void ViewClient::Account(const std::string& name, const CallContext& context, const absl::Status& status, double seconds) const {
  const std::string code = absl::StatusCodeToString(status.code());
  if (host_->services->metrics != nullptr) {
    host_->services->metrics->CallHandled(name, code, seconds);
    host_->services->metrics->TenantCalled(context.tenant, status);
  }
  if (!host_->events) return;
  host_->events({status.ok() ? Event::Level::kDebug : Event::Level::kInfo,
                 "call",
                 {{"method", name},
                  {"code", code},
                  {"ms", absl::StrCat(seconds * 1e3)},
                  {"tenant", context.tenant},
                  {"request_id", context.request_id},
                  {"peer", context.peer},
                  {"error", std::string(status.message().substr(0, 200))}}});
}

void ViewClient::Watch(uint32_t id, const v1::ViewerWatch& request) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    beginning_.insert(id);
  }
  const bool runs = host_->run(caller_.tenant, [self = shared_from_this(), id, request] {
    const absl::Status status = ForWire(Guarded([&] { return self->Begin(id, request); }));
    if (status.ok()) return;
    {
      const std::lock_guard<std::mutex> lock(self->mutex_);
      self->beginning_.erase(id);
    }
    self->Reply(id, status, "", nullptr);
  });
  if (!runs) closed_ = true;
}

absl::StatusOr<LiveWatch::Options> ViewClient::Plan(const v1::ViewerWatch& request, const SessionRegistry::Lease& session) const {
  if (!(request.frames_per_s() >= 0 && request.frames_per_s() <= kMostRate)) {
    return Malformed(absl::StrCat("frames_per_s: must be in [0, ", kMostRate, "]"));
  }
  LiveWatch::Options options;
  options.session = session.name();
  const Model& model = session->world().model();
  EIPC_ASSIGN_OR_RETURN(options.worlds, WorldsOf(request, *session));
  if (request.observe().cameras_size() > 0) return Malformed("observe.cameras: must be empty; GetState draws pictures");
  EIPC_ASSIGN_OR_RETURN(options.plan, ObservationPlan::Create(model, request.observe()));
  if (options.plan.MostBytes(model) * static_cast<int64_t>(options.worlds.size()) > kMostWatchedBytes) {
    return absl::ResourceExhaustedError("WATCH_TOO_LARGE: ask for cage positions instead of surfaces, or for fewer worlds");
  }
  options.plan_key = request.observe().SerializeAsString();
  const double rate = request.frames_per_s() > 0 ? std::max(request.frames_per_s(), kLeastRate) : kDefaultRate;
  options.interval = std::chrono::duration_cast<LiveWatch::Clock::duration>(std::chrono::duration<double>(1 / rate));
  options.wake = wake_;
  return options;
}

// The session is held from the first access to it until the first observations are there: none comes before the scene, and none is
// missing.
absl::Status ViewClient::Begin(uint32_t id, const v1::ViewerWatch& request) {
  CallContext context = Context();
  context.budget.deadline = std::chrono::steady_clock::now() + kLongestWait;
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                        host_->services->sessions.Acquire(request.session(), context.budget, caller_.tenant, FifoGate::Use::kRead));
  EIPC_ASSIGN_OR_RETURN(LiveWatch::Options options, Plan(request, session));
  const Model& model = session->world().model();
  auto room = std::make_shared<AnswerRoom::Share>(&host_->services->answers, caller_.tenant);
  EIPC_RETURN_IF_ERROR(room->Reserve(2 * ViewerSceneBytes(model)));
  v1::ViewerScene scene;
  ViewerSceneToProto(model, &scene);
  scene.set_worlds(session->world_count());
  scene.set_recorded(session->recording());
  const auto watch = std::make_shared<LiveWatch>(std::move(options));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return absl::CancelledError("CANCELLED: the connection is over");
    if (beginning_.erase(id) == 0) return absl::CancelledError("CANCELLED: the watch was ended before it began");
    if (watches_.size() >= kMostWatches) {
      return absl::ResourceExhaustedError(absl::StrCat("TOO_MANY_WATCHES: at most ", kMostWatches, "; end another one"));
    }
    if (!watches_.emplace(id, watch).second) return Malformed("id: a watch has it already");
    host_->services->feeds.Add(watch);
  }
  Reply(id, absl::OkStatus(), scene.SerializeAsString(), std::move(room));
  for (const int world : watch->options().worlds) {
    watch->Offer(world, ObserveBytes(watch->options().plan, session->world(world)), LiveWatch::Clock::now());
  }
  return absl::OkStatus();
}

absl::Status ViewClient::Unwatch(uint32_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (beginning_.erase(id) > 0) return absl::OkStatus();  // it does not begin
  const auto found = watches_.find(id);
  if (found == watches_.end()) return absl::NotFoundError("WATCH_NOT_FOUND: there is no watch of this id");
  host_->services->feeds.Remove(found->second);
  watches_.erase(found);
  return absl::OkStatus();
}

void ViewClient::ObserveNow(const std::shared_ptr<LiveWatch>& watch, const std::vector<int>& worlds) {
  (void)host_->run(caller_.tenant, [self = shared_from_this(), watch, worlds] {
    (void)Guarded([&]() -> absl::Status {
      CallContext context = self->Context();
      context.budget.deadline = std::chrono::steady_clock::now() + kLongestWait;
      EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                            self->host_->services->sessions.Acquire(watch->options().session, context.budget, self->caller_.tenant,
                                                                    FifoGate::Use::kRead));
      for (const int world : worlds) {
        watch->Offer(world, ObserveBytes(watch->options().plan, session->world(world)), LiveWatch::Clock::now());
      }
      return absl::OkStatus();
    });
  });
}

void ViewClient::EndWatch(uint32_t id, const std::shared_ptr<LiveWatch>& watch) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = watches_.find(id);
    if (found == watches_.end() || found->second != watch) return;
    host_->services->feeds.Remove(watch);
    watches_.erase(found);
  }
  const std::string words = absl::StrCat("SESSION_NOT_FOUND: '", watch->options().session, "', which was watched, was deleted");
  Queue(id, absl::NotFoundError(words), {.ends_request = false}, "");
}

void ViewClient::Reply(uint32_t id, const absl::Status& status, std::string response, std::shared_ptr<AnswerRoom::Share> room) {
  Queue(id, status, {.room = std::move(room)}, std::move(response));
}

void ViewClient::Queue(uint32_t id, const absl::Status& status, Answer queued, std::string response) {
  v1::ViewerMessage message;
  v1::ViewerAnswer& answer = *message.mutable_answer();
  answer.set_id(id);
  answer.set_status_code(static_cast<int>(status.code()));
  answer.set_status_message(std::string(status.message()));
  if (status.ok()) answer.set_response(std::move(response));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    queued.message = message.SerializeAsString();
    queued.memory = host_->services->memory.Record(static_cast<int64_t>(queued.message.size()));
    answers_.push_back(std::move(queued));
  }
  wake_();
}

std::optional<std::string> ViewClient::Next() {
  const std::lock_guard<std::mutex> lock(mutex_);
  being_sent_ = Answer();
  if (!answers_.empty()) {
    std::string message = std::move(answers_.front().message);
    being_sent_ = std::move(answers_.front());
    answers_.pop_front();
    if (being_sent_.ends_request) --pending_;
    return message;
  }
  auto watch = watches_.upper_bound(turn_);
  for (size_t i = 0; i < watches_.size(); ++i, ++watch) {
    if (watch == watches_.end()) watch = watches_.begin();
    const std::optional<LiveWatch::Taken> taken = watch->second->Take();
    if (!taken) continue;
    turn_ = watch->first;
    v1::ViewerMessage message;
    v1::ViewerFrame& frame = *message.mutable_frame();
    frame.set_watch(watch->first);
    frame.set_world(taken->world);
    frame.set_dropped(taken->dropped);
    frame.set_observation(*taken->observation);
    return message.SerializeAsString();
  }
  return std::nullopt;
}

void ViewClient::Tick(LiveWatch::Clock::time_point now) {
  std::map<uint32_t, std::shared_ptr<LiveWatch>> watches;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    watches = watches_;
  }
  for (const auto& [id, watch] : watches) {
    if (host_->services->sessions.Peek(watch->options().session, caller_.tenant) == nullptr) {
      EndWatch(id, watch);
      continue;
    }
    const std::vector<int> behind = watch->Behind(now, kCatchUp);
    if (!behind.empty()) ObserveNow(watch, behind);
  }
}

void ViewClient::Close() {
  closed_ = true;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [id, watch] : watches_) host_->services->feeds.Remove(watch);
  watches_.clear();
  answers_.clear();
}

}  // namespace eipc::rpc
