#ifndef EIPC_SIM_COLLISION_FILL_STAMPS_H_
#define EIPC_SIM_COLLISION_FILL_STAMPS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace eipc {

// Which entries of a table have been filled since what they are made from has changed, where several threads fill entries as they
// are asked for: each entry is filled by one thread, and the others wait for it. What fills an entry may ask for other entries,
// never for one that asks for it. A stamp, positive and less than 2^63, names the state that an entry is of.
class FillStamps {
 public:
  explicit FillStamps(size_t entries = 0) : stamps_(entries) {}

  // Whether the entry is filled; then its contents are visible to this thread.
  bool Has(size_t entry, uint64_t stamp) const { return stamps_[entry].load(std::memory_order_acquire) == stamp; }
  // True: the caller fills the entry and calls Fill afterwards. False: another thread has filled it.
  bool Claim(size_t entry, uint64_t stamp) {
    std::atomic<uint64_t>& state = stamps_[entry];
    uint64_t seen = state.load(std::memory_order_acquire);
    while (seen != stamp) {
      if (seen == (stamp | kClaimed)) {
        std::this_thread::yield();
        seen = state.load(std::memory_order_acquire);
      } else if (state.compare_exchange_weak(seen, stamp | kClaimed, std::memory_order_acquire)) {
        return true;
      }
    }
    return false;
  }
  void Fill(size_t entry, uint64_t stamp) { stamps_[entry].store(stamp, std::memory_order_release); }

 private:
  static constexpr uint64_t kClaimed = uint64_t{1} << 63;
  std::vector<std::atomic<uint64_t>> stamps_;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_FILL_STAMPS_H_
