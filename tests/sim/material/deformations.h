#ifndef EIPC_TESTS_SIM_MATERIAL_DEFORMATIONS_H_
#define EIPC_TESTS_SIM_MATERIAL_DEFORMATIONS_H_

// Deformation gradients that the material tests share: generic, inverted, degenerate, with repeated stretches, near rest.

#include <random>
#include <vector>

#include "sim/base/types.h"

namespace eipc::testing {

inline Mat3 RandomMatrix(std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  Mat3 m;
  for (int k = 0; k < 9; ++k) m.data()[k] = normal(*rng);
  return m;
}

inline Mat3 RandomRotation(std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  Quat q(normal(*rng), normal(*rng), normal(*rng), normal(*rng));
  return q.normalized().toRotationMatrix();
}

// U diag(stretches) V^T with random rotations.
inline Mat3 WithStretches(const Vec3& stretches, std::mt19937_64* rng) {
  return RandomRotation(rng) * stretches.asDiagonal() * RandomRotation(rng).transpose();
}

// Around rest, up to large strain, det > 0 and no stretch below 0.2.
inline std::vector<Mat3> ModerateDeformations(int n, std::mt19937_64* rng) {
  std::uniform_real_distribution<double> stretch(0.2, 2.5);
  std::vector<Mat3> out;
  for (int k = 0; k < n; ++k) {
    out.push_back(WithStretches(Vec3(stretch(*rng), stretch(*rng), stretch(*rng)), rng));
    out.push_back(RandomRotation(rng) * (Mat3::Identity() + 1e-3 * RandomMatrix(rng)));
  }
  return out;
}

// Inverted (one negative stretch), with all sums of two stretches at least 0.3 so that the nearest rotation is well defined.
inline std::vector<Mat3> InvertedDeformations(int n, std::mt19937_64* rng) {
  std::uniform_real_distribution<double> large(0.8, 2.0);
  std::uniform_real_distribution<double> negative(-0.5, -0.05);
  std::vector<Mat3> out;
  out.reserve(n);
  for (int k = 0; k < n; ++k) out.push_back(WithStretches(Vec3(large(*rng), large(*rng), negative(*rng)), rng));
  return out;
}

// Everything that breaks eigensolvers and quotients: repeated, opposite, vanishing, huge and tiny stretches, exact and rotated.
inline std::vector<Mat3> HardDeformations(std::mt19937_64* rng) {
  const std::vector<Vec3> stretches = {{1, 1, 1},
                                       {1, 1, -1},
                                       {0, 0, 0},
                                       {1, 0, 0},
                                       {1, 1, 0},
                                       {1, 0.5, 0},
                                       {2, 2, 2},
                                       {2, 2, 0.5},
                                       {2, 0.5, 0.5},
                                       {0.3, 0.3, -0.3},
                                       {1, 0.5, -0.5},
                                       {1.5, 1, -1},
                                       {1, 1, 1 + 1e-9},
                                       {1, 1 + 1e-6, 1},
                                       {1, 1, 1e-9},
                                       {1, 1e-9, 1e-9},
                                       {1, 1e-6, -1e-6},
                                       {0.01, 0.01, 0.01},
                                       {100, 1, 0.01},
                                       {50, 50, 50},
                                       {1e-3, 1, 1},
                                       {1, 1, -1e-3},
                                       {0.5, 0.5, 0.5 + 1e-12}};
  std::vector<Mat3> out;
  for (const Vec3& s : stretches) {
    out.push_back(s.asDiagonal());
    for (int k = 0; k < 4; ++k) out.push_back(WithStretches(s, rng));
  }
  for (double strain : {1e-4, 1e-8, 1e-12}) {
    for (int k = 0; k < 4; ++k) out.push_back(Mat3::Identity() + strain * RandomMatrix(rng));
  }
  return out;
}

// A mixture of all of the above and of matrices with independent normal entries, half of which are inverted.
inline std::vector<Mat3> AllDeformations(int n, std::mt19937_64* rng) {
  std::vector<Mat3> out = HardDeformations(rng);
  for (const Mat3& F : ModerateDeformations(n, rng)) out.push_back(F);
  for (const Mat3& F : InvertedDeformations(n, rng)) out.push_back(F);
  for (int k = 0; k < n; ++k) out.push_back(RandomMatrix(rng));
  return out;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_MATERIAL_DEFORMATIONS_H_
