#ifndef EIPC_SERVER_SESSION_MEMORY_BUDGET_H_
#define EIPC_SERVER_SESSION_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/base/memory_meter.h"

namespace eipc {

struct Model;
struct SceneSpec;
struct State;

// What a compiled scene holds, bytes.
int64_t EstimateModelBytes(const Model& model);
// What the copy of it holds that a world with materials of its own has (sim/dynamics/materials.h), bytes. Condensed stiffnesses are
// the scene's, but for bodies with another modulus: each of these has its own. 0 when the state, which fits the model, has none.
int64_t EstimateMaterialsBytes(const Model& scene, const State& state);
// What compiling a scene needs beside its meshes at its largest moment, bytes: copies, trees, the search for intersections, matrix
// entries; solving, when the scene begins in equilibrium. About twice what was measured: docs/howto/operations.md.
int64_t EstimateCompileBytes(const SceneSpec& spec);

// What `worlds` running copies of a model need, bytes, estimated before there is one: states, buffers, matrix factors, which fill
// up with unknowns and contacts, and lists of pairs, which grow with how far fine surfaces move in a step. Measured:
// docs/howto/operations.md.
int64_t EstimateSessionBytes(const Model& model, int worlds);

// Hands out memory on paper before it is used in fact, so that what does not fit is refused while there is still room to say so.
class MemoryBudget {
 public:
  // Bytes set aside, given back when destroyed.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      if (this != &other) {
        Return();
        budget_ = std::exchange(other.budget_, nullptr);
        bytes_ = other.bytes_;
      }
      return *this;
    }
    ~Share() { Return(); }
    int64_t bytes() const { return budget_ == nullptr ? 0 : bytes_; }
    // Reserves this many more bytes; false when they do not fit. A share of no budget stays as it is.
    bool Extend(int64_t bytes);
    // The same; RESOURCE_EXHAUSTED (MEMORY_BUDGET) when they do not fit. `what` is for the message.
    absl::Status Grow(int64_t bytes, const std::string& what);
    // Gives back all but `bytes`.
    void ShrinkTo(int64_t bytes);
    // Sets `bytes` aside, for what is there already: they may exceed the budget. A share of no budget stays as it is.
    void SetTo(int64_t bytes);

   private:
    friend class MemoryBudget;
    Share(MemoryBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}
    void Return() {
      if (budget_ != nullptr) std::exchange(budget_, nullptr)->used_.fetch_sub(bytes_);
    }
    MemoryBudget* budget_ = nullptr;
    int64_t bytes_ = 0;
  };

  // 0: no bound.
  MemoryBudget(int64_t total_bytes, int64_t largest_bytes) : total_bytes_(total_bytes), largest_bytes_(largest_bytes) {}

  // RESOURCE_EXHAUSTED (MEMORY_BUDGET) when it does not fit. `what` is for the message.
  absl::StatusOr<Share> Take(int64_t bytes, const std::string& what);
  // The same for what a call needs to be read and answered: the bound on one session does not hold for it.
  absl::StatusOr<Share> TakeForMessage(int64_t bytes, const std::string& what);
  // For what exists already, such as an answer: it may exceed the budget, and others are refused until it is given back.
  Share Record(int64_t bytes);
  int64_t used() const { return used_.load(); }
  int64_t total() const { return total_bytes_; }

 private:
  bool TryAdd(int64_t bytes, int64_t* used);
  absl::Status DoesNotFit(int64_t bytes, int64_t used, const std::string& what) const;
  const int64_t total_bytes_;
  const int64_t largest_bytes_;
  std::atomic<int64_t> used_ = 0;
};

// What a request holds while it is worked on: asked before it holds more, given back when it ends.
class RequestMemory : public MemoryMeter {
 public:
  // `what` is for the message of a refusal.
  RequestMemory(MemoryBudget* budget, std::string what) : share_(budget->Record(0)), what_(std::move(what)) {}
  absl::Status Add(int64_t bytes) override { return share_.Grow(bytes, what_); }
  int64_t bytes() const { return share_.bytes(); }
  // Leaves `bytes` aside for what is kept of the request, and gives the rest back. RESOURCE_EXHAUSTED when more is kept than was
  // asked for, and that does not fit.
  absl::StatusOr<MemoryBudget::Share> Keep(int64_t bytes);

 private:
  MemoryBudget::Share share_;
  const std::string what_;
};

// Resident memory of this process, bytes; 0 when it cannot be read.
int64_t ResidentBytes();

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_MEMORY_BUDGET_H_
