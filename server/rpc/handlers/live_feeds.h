#ifndef EIPC_SERVER_RPC_HANDLERS_LIVE_FEEDS_H_
#define EIPC_SERVER_RPC_HANDLERS_LIVE_FEEDS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/convert/observation_convert.h"
#include "sim/dynamics/world.h"

namespace eipc::rpc {

// An observation, serialized once for all who watch it.
using ObservationBytes = std::shared_ptr<const std::string>;

// What one reader wants to see of a session, and the newest observation of each world that it has not taken yet.
//
// Invariant: a world has at most one observation that waits. As long as it waits, and before the next tick, none is made for this
// reader: one that reads slowly, or not at all, costs a step the comparison of a few numbers. Ticks are multiples of the reader's
// interval on the clock, so that readers of one interval want the same observations, which are made once for all. Thread-safe.
class LiveWatch {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    std::string session;
    std::vector<int> worlds;
    ObservationPlan plan;
    std::string plan_key;  // equal for equal plans
    Clock::duration interval{};
    std::function<void()> wake;  // an observation waits to be taken; must not block
  };
  struct Taken {
    int world = 0;
    ObservationBytes observation;
    int64_t dropped = 0;
  };

  explicit LiveWatch(Options options) : options_(std::move(options)), slots_(options_.worlds.size()) {}

  const Options& options() const { return options_; }
  // Whether an observation of `world` would be taken now; when not, it counts as dropped.
  bool Wants(int world, Clock::time_point now);
  void Offer(int world, ObservationBytes observation, Clock::time_point now);
  // The observation that waits, by turns of worlds.
  std::optional<Taken> Take();
  // Worlds that went on `idle` ago or longer since their last observation, which was taken: nothing else will show where they are.
  // The caller observes them, and what was dropped last counts as dropped no more.
  std::vector<int> Behind(Clock::time_point now, Clock::duration idle);

 private:
  struct Slot {
    ObservationBytes waiting;
    Clock::time_point next{};     // not before
    Clock::time_point went_on{};  // when the last one was dropped
    bool behind = false;          // one was dropped since the last that was offered
    int64_t dropped = 0;
  };
  Slot* Find(int world);  // requires mutex_
  Clock::time_point NextTick(Clock::time_point now) const;

  const Options options_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Slot> slots_;  // as options_.worlds
  size_t turn_ = 0;
};

// Who watches which session. Thread-safe.
class LiveFeeds {
 public:
  using Clock = LiveWatch::Clock;

  void Add(const std::shared_ptr<LiveWatch>& watch);
  void Remove(const std::shared_ptr<LiveWatch>& watch);
  // The call that uses the session has changed this world. Without watches it costs a load. Where there is no memory to observe,
  // one observation at least is dropped: the change itself has been acknowledged.
  void Publish(const std::string& session, int world, const World& state) noexcept;
  int size() const { return count_.load(std::memory_order_relaxed); }
  // Observations made for watches, and those that were dropped.
  int64_t made() const { return made_.load(std::memory_order_relaxed); }
  int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void PublishTo(const std::string& session, int world, const World& state, Clock::time_point now);

  std::atomic<int> count_ = 0;
  std::atomic<int64_t> made_ = 0;
  std::atomic<int64_t> dropped_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::shared_ptr<LiveWatch>>> watches_;  // guarded by mutex_
};

ObservationBytes ObserveBytes(const ObservationPlan& plan, const World& world);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_LIVE_FEEDS_H_
