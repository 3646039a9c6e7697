#ifndef EIPC_SIM_COLLISION_SEARCH_THREADS_H_
#define EIPC_SIM_COLLISION_SEARCH_THREADS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/base/wait_poll.h"
#include "sim/collision/body_pair.h"
#include "sim/collision/candidate.h"
#include "sim/collision/interrupt_poll.h"
#include "sim/collision/vertex_list.h"

namespace eipc {

// What one thread needs while it works on pairs of bodies.
struct SearchScratch {
  // `count`: number of the surface's vertices.
  SearchScratch(Interrupt* interrupt, size_t count) : poll(interrupt), vertices(count) { vertices.Reserve(count); }

  InterruptPoll poll;
  std::vector<std::pair<int32_t, int32_t>> stack;  // pairs of tree nodes
  std::vector<int32_t> unproven;                   // neighbouring triangles
  VertexList vertices;
  std::vector<Candidate> candidates;
  PairLists found;  // by the parts of searches that this thread had
  BodyPair pair;    // that is searched once and not kept
};

// The threads that share the pairs of bodies, each with a scratch of its own. Which thread gets which decides nothing.
class SearchThreads {
 public:
  // What ends a search early, and the threads; null: nothing, and one thread.
  struct Source {
    Interrupt* interrupt = nullptr;
    ThreadPool* pool = nullptr;
  };
  // `vertices`: number of the surface's vertices, 0 where no scratch lists them.
  SearchThreads(const Source& source, size_t vertices)
      : interrupt_(source.interrupt), pool_(source.pool == nullptr ? &one_thread_ : source.pool), vertices_(vertices) {}

  // All of them, and the calling one alone.
  ThreadPool* pool() const { return pool_; }
  ThreadPool* one_thread() { return &one_thread_; }
  // Whether threads may share a loop of `count` pairs.
  bool Shares(int64_t count) const { return count > 1 && pool_->threads() > 1; }

  // Calls work(scratch, i) for each i of [0, count). With `shared` false the calling thread does all of them, in order.
  template <typename Work>
  void ForEach(int64_t count, bool shared, const Work& work) {
    Begin(shared && Shares(count) ? static_cast<int>(std::min<int64_t>(count, pool_->MostAtOnce())) : 1);
    const WaitPoll wait_poll(interrupt_);
    (shared ? pool_ : &one_thread_)->ParallelFor(count, 1, [&](int64_t first, int64_t last) {
      const Loan loan(this);
      for (int64_t i = first; i < last; ++i) work(loan.scratch(), i);
    });
  }
  // Whether a thread was interrupted in the last loop.
  bool stopped() const {
    return std::any_of(all_.begin(), all_.end(), [](const auto& scratch) { return scratch->poll.stopped(); });
  }
  // Those that there are so far.
  const std::vector<std::unique_ptr<SearchScratch>>& scratches() const { return all_; }

 private:
  // As many as the threads may want, so that none is made later.
  void Begin(int threads) {
    while (all_.size() < static_cast<size_t>(threads)) Add();
    for (const std::unique_ptr<SearchScratch>& scratch : all_) scratch->poll.Begin();
  }
  // A Loan gives back without allocating.
  void Add() {
    free_.reserve(all_.size() + 1);
    all_.push_back(std::make_unique<SearchScratch>(interrupt_, vertices_));
    free_.push_back(all_.back().get());
  }

  // A scratch for this thread while it exists.
  class Loan {
   public:
    explicit Loan(SearchThreads* of) : of_(of) {
      const std::lock_guard<std::mutex> lock(of->mutex_);
      if (of->free_.empty()) of->Add();
      scratch_ = of->free_.back();
      of->free_.pop_back();
    }
    ~Loan() {
      const std::lock_guard<std::mutex> lock(of_->mutex_);
      of_->free_.push_back(scratch_);
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    SearchScratch* scratch() const { return scratch_; }

   private:
    SearchThreads* of_;
    SearchScratch* scratch_;
  };

  Interrupt* interrupt_;
  ThreadPool one_thread_{1};
  ThreadPool* pool_;
  size_t vertices_;
  std::vector<std::unique_ptr<SearchScratch>> all_;
  std::mutex mutex_;
  std::vector<SearchScratch*> free_;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_SEARCH_THREADS_H_
