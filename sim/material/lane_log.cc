#include "sim/material/lane_log.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/material/lanes.h"
#include "sim/material/log_remainder.h"
#include "sim/material/strain_invariants.h"

namespace eipc {
namespace {

typedef uint64_t Bits __attribute__((vector_size(32)));  // of the numbers in a Quad

constexpr int kFractionBits = 52;
constexpr uint64_t kExponentOfOne = 1023, kRootOfHalf = 0x3FE6A09E667F3BCD, kTwoTo52 = 0x4330000000000000;
// ln 2 in two parts; the first has so few bits that its products with exponents are exact.
constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;

}  // namespace

// x = 2^k (1 + f) with 1 + f between the roots of 1/2 and 2: k is in the bits that x has over those of the root of 1/2.
Quad Log(const Quad& x) {
  const Bits bits = reinterpret_cast<Bits>(x);
  const Bits shifted = (bits - kRootOfHalf + (kExponentOfOne << kFractionBits)) >> kFractionBits;  // k + 1023
  const Quad k = reinterpret_cast<Quad>(shifted | kTwoTo52) - (0x1p52 + kExponentOfOne);
  const Quad f = reinterpret_cast<Quad>(bits - ((shifted - kExponentOfOne) << kFractionBits)) - 1;
  // What is left out is 1e-18 of f at the roots of 1/2 and 2.
  Quad out = k * kLn2High - ((LogRemainder<21>(f) - k * kLn2Low) - f);
  const LaneMask normal = (x >= std::numeric_limits<double>::min()) & (x <= std::numeric_limits<double>::max());
  if (!Any(~normal)) return out;
  for (int lane = 0; lane < 4; ++lane) {
    if (!normal[lane]) out[lane] = std::log(x[lane]);
  }
  return out;
}

Quad MinusLogOnePlus(const Quad& x) {
  Quad out = LogRemainder<kLastOfMinusLog>(x);
  if (!Any(Abs(x) > 0.1)) return out;
  for (int lane = 0; lane < 4; ++lane) {
    if (std::abs(x[lane]) > 0.1) out[lane] = MinusLogOnePlus(x[lane]);
  }
  return out;
}

}  // namespace eipc
