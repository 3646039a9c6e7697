#ifndef EIPC_MODELS_IMPLICIT_H_
#define EIPC_MODELS_IMPLICIT_H_

// What implicit functions (negative inside, metres) are put together from. Only +, -, *, / and sqrt: see shapes.h.

#include <algorithm>
#include <cmath>

namespace eipc {

// Polynomial smooth minimum: a plain minimum beyond a difference of `width`, a blend of depth width / 4 where both are equal.
// The union of two solids, with fillets where they meet.
inline double SmoothMin(double a, double b, double width) {
  const double h = std::max(width - std::abs(a - b), 0.0) / width;
  return std::min(a, b) - h * h * width / 4;
}

// The intersection of two solids, its edges rounded.
inline double SmoothMax(double a, double b, double width) { return -SmoothMin(-a, -b, width); }

}  // namespace eipc

#endif  // EIPC_MODELS_IMPLICIT_H_
