#ifndef EIPC_SERVER_SESSION_MEMORY_BUDGET_H_
#define EIPC_SERVER_SESSION_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace eipc {

struct Model;

// What `worlds` running copies of a model need, bytes, estimated before there is one: states, buffers, matrix factors, which fill
// up with unknowns and contacts, and lists of pairs, which grow with how far fine surfaces move in a step. Measured:
// docs/operations.md.
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
  int64_t used() const { return used_.load(); }

 private:
  const int64_t total_bytes_;
  const int64_t largest_bytes_;
  std::atomic<int64_t> used_ = 0;
};

// Resident memory of this process, bytes; 0 when it cannot be read.
int64_t ResidentBytes();

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_MEMORY_BUDGET_H_
