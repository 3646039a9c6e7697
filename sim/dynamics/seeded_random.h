#ifndef EIPC_SIM_DYNAMICS_SEEDED_RANDOM_H_
#define EIPC_SIM_DYNAMICS_SEEDED_RANDOM_H_

#include <cstdint>

namespace eipc {

// SplitMix64 (Steele, Lea & Flood 2014): the same numbers wherever it runs. The state is the caller's.
class SeededRandom {
 public:
  explicit SeededRandom(uint64_t* state) : state_(state) {}
  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  double Between(double min, double max) { return min + (max - min) * Unit(); }

 private:
  uint64_t Next() {
    uint64_t x = *state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t* state_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SEEDED_RANDOM_H_
