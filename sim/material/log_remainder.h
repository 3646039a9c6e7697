#ifndef EIPC_SIM_MATERIAL_LOG_REMAINDER_H_
#define EIPC_SIM_MATERIAL_LOG_REMAINDER_H_

namespace eipc {

// x - ln(1 + x) of one number or, in lanes, of several: ln(1 + x) = 2 artanh(r) with r = x / (2 + x), whose series ends with
// r^kLast / kLast, and x - 2 r = r x.
template <int kLast, typename Number>
Number LogRemainder(const Number& x) {
  const Number r = x / (2 + x), r2 = r * r;
  Number series = Number{} + 1.0 / kLast;
  for (int n = kLast - 2; n >= 3; n -= 2) series = series * r2 + 1.0 / n;
  return r * (x - 2 * r2 * series);
}

// The last power of MinusLogOnePlus, accurate to rounding up to |x| = 0.1.
inline constexpr int kLastOfMinusLog = 17;

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_LOG_REMAINDER_H_
