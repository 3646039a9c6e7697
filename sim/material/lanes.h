#ifndef EIPC_SIM_MATERIAL_LANES_H_
#define EIPC_SIM_MATERIAL_LANES_H_

#include <array>

#include "sim/base/quad.h"
#include "sim/base/types.h"

namespace eipc {

// Vectors and matrices of four elements at a time, one in each lane of the vector registers.
using Vec3s = std::array<Quad, 3>;
using Mat3s = std::array<Vec3s, 3>;  // by columns

// Of lane_modes.h.
struct LaneDeformation;
struct LaneResponse;
struct LaneModes;

inline Quad Dot(const Vec3s& a, const Vec3s& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

inline Vec3s Cross(const Vec3s& a, const Vec3s& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline Quad SquaredNorm(const Mat3s& m) { return Dot(m[0], m[0]) + Dot(m[1], m[1]) + Dot(m[2], m[2]); }

inline Mat3s Cofactor(const Mat3s& m) { return {Cross(m[1], m[2]), Cross(m[2], m[0]), Cross(m[0], m[1])}; }

inline Vec3s Times(const Mat3s& m, const Vec3s& v) {
  Vec3s out;
  for (int i = 0; i < 3; ++i) out[i] = m[0][i] * v[0] + m[1][i] * v[1] + m[2][i] * v[2];
  return out;
}

inline Mat3s Times(const Mat3s& a, const Mat3s& b) { return {Times(a, b[0]), Times(a, b[1]), Times(a, b[2])}; }

inline Vec3s TransposeTimes(const Mat3s& m, const Vec3s& v) { return {Dot(m[0], v), Dot(m[1], v), Dot(m[2], v)}; }

inline Mat3s TransposeTimes(const Mat3s& a, const Mat3s& b) {
  return {TransposeTimes(a, b[0]), TransposeTimes(a, b[1]), TransposeTimes(a, b[2])};
}

inline Mat3s Transposed(const Mat3s& m) {
  return {Vec3s{m[0][0], m[1][0], m[2][0]}, Vec3s{m[0][1], m[1][1], m[2][1]}, Vec3s{m[0][2], m[1][2], m[2][2]}};
}

inline Mat3s Difference(const Mat3s& a, const Mat3s& b) {
  Mat3s out;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) out[j][i] = a[j][i] - b[j][i];
  }
  return out;
}

// s a + t b.
inline Mat3s Combination(const Quad& s, const Mat3s& a, const Quad& t, const Mat3s& b) {
  Mat3s out;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) out[j][i] = s * a[j][i] + t * b[j][i];
  }
  return out;
}

inline Mat3 Lane(const Mat3s& m, int lane) {
  Mat3 out;
  for (int j = 0; j < 3; ++j) out.col(j) << m[j][0][lane], m[j][1][lane], m[j][2][lane];
  return out;
}

inline void SetLane(int lane, const Mat3& value, Mat3s* m) {
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) (*m)[j][i][lane] = value(i, j);
  }
}

inline Mat3s IdentityInEveryLane() {
  return {Vec3s{Splat(1), Splat(0), Splat(0)}, Vec3s{Splat(0), Splat(1), Splat(0)}, Vec3s{Splat(0), Splat(0), Splat(1)}};
}

inline Quad Sqrt(const Quad& x) {
  Eigen::Array4d root;
  StoreQuad(x, root.data());
  root = root.sqrt();
  return LoadQuad(root.data());
}

inline Quad Abs(const Quad& x) { return x < 0 ? -x : x; }
inline Quad Max(const Quad& a, const Quad& b) { return a > b ? a : b; }  // b where a is NaN

// What a vector comparison gives: all bits of a lane are set where it holds.
using LaneMask = decltype(Quad{} < Quad{});
inline bool Any(const LaneMask& m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_LANES_H_
