#ifndef EIPC_SIM_BASE_QUAD_H_
#define EIPC_SIM_BASE_QUAD_H_

#include <cstring>

namespace eipc {

// Four doubles; the compiler maps them to the widest registers of the baseline.
typedef double Quad __attribute__((vector_size(32)));

inline Quad Splat(double s) { return Quad{s, s, s, s}; }
inline Quad LoadQuad(const double* p) {
  Quad q;
  std::memcpy(&q, p, sizeof q);
  return q;
}
// Three numbers and a zero.
inline Quad LoadThree(const double* p) { return Quad{p[0], p[1], p[2], 0}; }
inline void StoreQuad(const Quad& q, double* p) { std::memcpy(p, &q, sizeof q); }

inline Quad Larger(const Quad& a, const Quad& b) { return a > b ? a : b; }
inline Quad Smaller(const Quad& a, const Quad& b) { return a < b ? a : b; }
inline Quad Size(const Quad& a) { return Larger(a, -a); }
inline double LargestOf(const Quad& a) {
  const double first = a[0] > a[1] ? a[0] : a[1], second = a[2] > a[3] ? a[2] : a[3];
  return first > second ? first : second;
}

// A row becomes a column: r[i][j] -> r[j][i].
inline void Transpose(Quad* r) {
  const Quad a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6), b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
  const Quad c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6), d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

}  // namespace eipc

#endif  // EIPC_SIM_BASE_QUAD_H_
