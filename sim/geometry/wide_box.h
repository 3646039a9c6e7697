#ifndef EIPC_SIM_GEOMETRY_WIDE_BOX_H_
#define EIPC_SIM_GEOMETRY_WIDE_BOX_H_

#ifdef __AVX__
#include <immintrin.h>
#endif

#include <limits>

#include "sim/geometry/bounding_volume_tree.h"

namespace eipc {

// An axis-aligned box, m, whose corners fill the widest registers of the baseline: four numbers, the last one 0.
struct WideBox {
  typedef double Quad __attribute__((vector_size(32)));
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Quad lo = {kInfinity, kInfinity, kInfinity, 0};
  Quad hi = {-kInfinity, -kInfinity, -kInfinity, 0};

  WideBox() = default;
  WideBox(const Eigen::Array3d& low, const Eigen::Array3d& high)
      : lo{low[0], low[1], low[2], 0}, hi{high[0], high[1], high[2], 0} {}

  void Include(const WideBox& other) {
    lo = lo < other.lo ? lo : other.lo;
    hi = hi > other.hi ? hi : other.hi;
  }
  bool Meets(const WideBox& other) const { return All((lo <= other.hi) & (other.lo <= hi)); }
  bool Contains(const WideBox& other) const { return Contains(other.lo, other.hi); }
  bool Contains(const Quad& low, const Quad& high) const { return All((lo <= low) & (high <= hi)); }
  Eigen::Array3d Lo() const { return {lo[0], lo[1], lo[2]}; }
  Eigen::Array3d Hi() const { return {hi[0], hi[1], hi[2]}; }
  // Whether no axis keeps two pairs of boxes apart in both: this and `other`, `then` and `other_then`.
  bool MeetsAlong(const WideBox& other, const WideBox& then, const WideBox& other_then) const {
    const Mask below = (hi < other.lo) & (then.hi < other_then.lo), above = (other.hi < lo) & (other_then.hi < then.lo);
    const Mask apart = below | above;
    return Signs(apart) == 0;
  }
  // The box of all positions that it takes when it is moved by the displacements in `displacements`.
  WideBox Swept(const WideBox& displacements) const {
    WideBox out;
    out.lo = lo + displacements.lo;
    out.hi = hi + displacements.hi;
    return out;
  }
  // Whether they still meet when each is made smaller by half of `by` on every side.
  bool MeetsWithin(const WideBox& other, double by) const {
    const Quad shift = {by, by, by, 0};
    return All((lo + shift <= other.hi) & (other.lo + shift <= hi));
  }

 private:
  typedef long long Mask __attribute__((vector_size(32)));
#ifdef __AVX__
  static int Signs(const Mask& m) { return _mm256_movemask_pd(reinterpret_cast<__m256d>(m)) & 7; }
#else
  static int Signs(const Mask& m) { return static_cast<int>((m[0] & 1) | (m[1] & 2) | (m[2] & 4)); }
#endif
  static bool All(const Mask& m) { return Signs(m) == 7; }
};

}  // namespace eipc

#endif  // EIPC_SIM_GEOMETRY_WIDE_BOX_H_
