#ifndef EIPC_SIM_LINALG_LEAST_FIRST_H_
#define EIPC_SIM_LINALG_LEAST_FIRST_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace eipc {

// Numbers [0, n) with keys that change, of which the least comes first, to within a 64th: keys that are nearly equal share a
// bucket, and the last that came there is the first.
class LeastFirst {
 public:
  // Empties it.
  void Reset(int32_t n) {
    places_.assign(n, {});
    first_.fill(kNone);
    filled_.fill(0);
    size_ = 0;
  }
  bool empty() const { return size_ == 0; }
  // Adds it, or changes its key. Keys below one count as one.
  void Set(int32_t number, float key) {
    const int32_t bucket = BucketOf(key);
    if (places_[number].bucket == bucket) return;
    Remove(number);
    int32_t& first = first_[bucket];
    places_[number] = {bucket, kNone, first};
    if (first != kNone) places_[first].before = number;
    first = number;
    filled_[bucket / 64] |= uint64_t{1} << (bucket % 64);
    ++size_;
  }
  // Nothing where it is not there.
  void Remove(int32_t number) {
    const Place place = places_[number];
    if (place.bucket == kNone) return;
    places_[number].bucket = kNone;
    if (place.after != kNone) places_[place.after].before = place.before;
    if (place.before != kNone) {
      places_[place.before].after = place.after;
    } else {
      first_[place.bucket] = place.after;
      if (place.after == kNone) filled_[place.bucket / 64] &= ~(uint64_t{1} << (place.bucket % 64));
    }
    --size_;
  }
  // Of one that is not empty.
  int32_t Pop() {
    int32_t word = 0;
    while (filled_[word] == 0) ++word;
    const int32_t number = first_[64 * word + std::countr_zero(filled_[word])];
    Remove(number);
    return number;
  }

 private:
  static constexpr int32_t kNone = -1;
  static constexpr int32_t kBuckets = 8192;  // of all numbers from one on that are finite
  struct Place {
    int32_t bucket = kNone, before = kNone, after = kNone;
  };
  // The exponent and the first six digits of the key, which ascend with it.
  static int32_t BucketOf(float key) {
    constexpr uint32_t kOne = std::bit_cast<uint32_t>(1.0F);
    return static_cast<int32_t>((std::bit_cast<uint32_t>(std::max(key, 1.0F)) - kOne) >> 17);
  }

  std::vector<Place> places_;
  std::array<int32_t, kBuckets> first_ = {};
  std::array<uint64_t, kBuckets / 64> filled_ = {};
  int32_t size_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_LEAST_FIRST_H_
