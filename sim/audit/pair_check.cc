#include "sim/audit/pair_check.h"

#include <algorithm>
#include <cmath>

#include "sim/audit/exact_triangles.h"

namespace eipc {
namespace {

// What cheaply proves that two triangles have nothing in common but what they share. Signs are trusted only beyond kMargin, which
// is far above the rounding of the few operations behind them; what is not proven goes to the exact test.
constexpr double kMargin = 1e-12;

bool Positive(double dot, double aa, double bb) { return dot > 0 && dot * dot > kMargin * kMargin * aa * bb; }

// Triangles v a b and v c d: a plane through v with a, b on one side and c, d on the other. Tried: across the bisectors.
bool SeparatedAtVertex(const Vec3& v, const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 va = a - v, vb = b - v, vc = c - v, vd = d - v;
  const double aa = va.squaredNorm(), bb = vb.squaredNorm(), cc = vc.squaredNorm(), dd = vd.squaredNorm();
  const auto separates = [&](const Vec3& m) {
    const double mm = m.squaredNorm();
    return Positive(m.dot(va), mm, aa) && Positive(m.dot(vb), mm, bb) && Positive(-m.dot(vc), mm, cc) &&
           Positive(-m.dot(vd), mm, dd);
  };
  return separates(va + vb - vc - vd) ||
         separates(va / std::sqrt(aa) + vb / std::sqrt(bb) - vc / std::sqrt(cc) - vd / std::sqrt(dd));
}

// Triangles a b c and a b d meet beyond ab only when they are folded flat onto one another: not when, seen along ab, the angle
// between them is more than 60 degrees.
bool SeparatedAtEdge(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 e = b - a, ac = c - a, ad = d - a;
  const double ee = e.squaredNorm();
  const Vec3 up_c = ac - (ac.dot(e) / ee) * e, up_d = ad - (ad.dot(e) / ee) * e;
  const double cc = up_c.squaredNorm(), dd = up_d.squaredNorm(), dot = up_c.dot(up_d);
  // Orthogonalization loses what ac and ad have along e; slivers where that matters are left to the exact test.
  return (dot < 0 || dot * dot < 0.25 * cc * dd) && cc > 1e-6 * ac.squaredNorm() && dd > 1e-6 * ad.squaredNorm();
}

// All of t strictly on one side of the plane of s, by far more than the rounding of n . (v - a): a few ulp of |ab| |ac| |v - a|.
bool OnOneSide(const std::vector<Vec3>& x, const Triangle& s, const Triangle& t) {
  const Vec3 &a = x[s[0]], ab = x[s[1]] - a, ac = x[s[2]] - a, n = ab.cross(ac);
  const double scale = kMargin * kMargin * ab.squaredNorm() * ac.squaredNorm();
  int above = 0, below = 0;
  for (int32_t v : t) {
    const Vec3 r = x[v] - a;
    const double side = n.dot(r);
    if (!(side * side > scale * r.squaredNorm())) return false;
    ++(side > 0 ? above : below);
  }
  return above == 0 || below == 0;
}

// Two triangles, their vertices reordered: the `count` that they have in common come first, in the same order in both.
struct Shared {
  int count = 0;
  std::array<int32_t, 3> s, t;
};

Shared SharedVertices(const Triangle& s, const Triangle& t) {
  Shared out{0, s, t};
  for (int i = 0; i < 3; ++i) {
    for (int j = out.count; j < 3; ++j) {
      if (s[i] != out.t[j]) continue;
      std::swap(out.t[j], out.t[out.count]);
      for (int k = out.count; k < 3; ++k) {
        if (out.s[k] == s[i]) std::swap(out.s[k], out.s[out.count]);
      }
      ++out.count;
      break;
    }
  }
  return out;
}

bool BoxesMeet(const std::vector<Vec3>& x, const Triangle& s, const Triangle& t) {
  const Vec3 &s0 = x[s[0]], &s1 = x[s[1]], &s2 = x[s[2]], &t0 = x[t[0]], &t1 = x[t[1]], &t2 = x[t[2]];
  bool meet = true;
  for (int k = 0; k < 3; ++k) {
    const double s_low = std::min(std::min(s0[k], s1[k]), s2[k]), s_high = std::max(std::max(s0[k], s1[k]), s2[k]);
    const double t_low = std::min(std::min(t0[k], t1[k]), t2[k]), t_high = std::max(std::max(t0[k], t1[k]), t2[k]);
    meet = meet && s_low <= t_high && t_low <= s_high;
  }
  return meet;
}

bool PairMeets(const std::vector<Vec3>& x, const Triangle& s, const Triangle& t) {
  if (!BoxesMeet(x, s, t)) return false;  // nor do they share a vertex
  const Shared n = SharedVertices(s, t);
  if (n.count == 0 && (OnOneSide(x, s, t) || OnOneSide(x, t, s))) return false;
  if (n.count == 1 && SeparatedAtVertex(x[n.s[0]], x[n.s[1]], x[n.s[2]], x[n.t[1]], x[n.t[2]])) return false;
  if (n.count == 2 && SeparatedAtEdge(x[n.s[0]], x[n.s[1]], x[n.s[2]], x[n.t[2]])) return false;
  return TrianglesMeet(x, s, t);
}

// What is not finite makes a sum with it not finite; a sum that overflows counts as well.
bool Finite(const std::vector<Vec3>& x, const Triangle& t) { return std::isfinite((x[t[0]] + x[t[1]] + x[t[2]]).sum()); }

}  // namespace

bool AnyPairMeets(const std::vector<Vec3>& x, const std::vector<Triangle>& triangles,
                  absl::Span<const std::pair<int32_t, int32_t>> pairs) {
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
    const Triangle &s = triangles[pair.first], &t = triangles[pair.second];
    return !Finite(x, s) || !Finite(x, t) || PairMeets(x, s, t);
  });
}

}  // namespace eipc
