#ifndef EIPC_SIM_BASE_MEMORY_METER_H_
#define EIPC_SIM_BASE_MEMORY_METER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace eipc {

// Asked by work that grows with its input, before it holds more.
class MemoryMeter {
 public:
  virtual ~MemoryMeter() = default;
  // `bytes` more are about to be held until the work is done. RESOURCE_EXHAUSTED when there is no room for them.
  virtual absl::Status Add(int64_t bytes) = 0;
};

// Asks for `bytes`; a meter of nullptr has room for everything.
inline absl::Status AddTo(MemoryMeter* meter, int64_t bytes) { return meter == nullptr ? absl::OkStatus() : meter->Add(bytes); }

// Appends to a list that doubles when it is full, after asking for the memory of twice its size: while the elements move, the old
// and the new copy are there. `beside` is what each element takes elsewhere, e.g. in an index of the list.
template <typename T>
absl::Status Append(T value, std::vector<T>* list, MemoryMeter* meter, size_t beside = 0) {
  if (list->size() == list->capacity()) {
    const size_t room = std::max<size_t>(16, 2 * list->capacity());
    if (absl::Status status = AddTo(meter, static_cast<int64_t>(room * (sizeof(T) + beside))); !status.ok()) return status;
    list->reserve(room);
  }
  list->push_back(std::move(value));
  return absl::OkStatus();
}

}  // namespace eipc

#endif  // EIPC_SIM_BASE_MEMORY_METER_H_
