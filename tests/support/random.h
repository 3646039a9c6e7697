#ifndef EIPC_TESTS_SUPPORT_RANDOM_H_
#define EIPC_TESTS_SUPPORT_RANDOM_H_

// Seeded random vectors and rotations.

#include <cmath>
#include <random>

#include "sim/base/types.h"

namespace eipc::testing {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  double Uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  // 10^u with u uniform: sizes over many orders of magnitude.
  double LogUniform(double low, double high) { return std::exp(Uniform(std::log(low), std::log(high))); }
  int Integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  Vec3 Cube(double half) { return Vec3(Uniform(-half, half), Uniform(-half, half), Uniform(-half, half)); }
  Vec3 Direction() {
    std::normal_distribution<double> normal;
    return Vec3(normal(engine_), normal(engine_), normal(engine_)).normalized();
  }
  Quat Rotation() {
    std::normal_distribution<double> normal;
    return Quat(normal(engine_), normal(engine_), normal(engine_), normal(engine_)).normalized();
  }
  VecX Vector(Eigen::Index size, double half) {
    VecX out(size);
    for (Eigen::Index i = 0; i < size; ++i) out[i] = Uniform(-half, half);
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_RANDOM_H_
