#include "sim/material/strain_invariants.h"

#include <cmath>

#include "sim/material/log_remainder.h"

namespace eipc {

Mat3 Cofactor(const Mat3& F) {
  Mat3 cofactor;
  cofactor << F.col(1).cross(F.col(2)), F.col(2).cross(F.col(0)), F.col(0).cross(F.col(1));
  return cofactor;
}

StrainInvariants StrainInvariants::Of(const Mat3& F) {
  const Mat3 d = F.transpose() * F - Mat3::Identity();
  StrainInvariants out;
  out.trace = d.trace();
  out.second =
      d(0, 0) * d(1, 1) + d(1, 1) * d(2, 2) + d(2, 2) * d(0, 0) - d(0, 1) * d(0, 1) - d(1, 2) * d(1, 2) - d(2, 0) * d(2, 0);
  out.det = F.determinant();
  if (out.det > 0 && d.squaredNorm() < 0.25) {
    // Near a rotation. J^2 - 1 = det(I + D) - 1 = trace + second + det D = (J - 1)(J + 1).
    const double higher = out.second + d.determinant();
    out.volume = (out.trace + higher) / (out.det + 1);
    out.trace_minus_volume = (out.trace * out.volume - 2 * higher) / (out.det + 1);
  } else {
    out.volume = out.det - 1;
    out.trace_minus_volume = out.trace - 2 * out.volume;
  }
  return out;
}

double MinusLogOnePlus(double x) {
  if (std::abs(x) > 0.1) return x - std::log1p(x);
  return LogRemainder<kLastOfMinusLog>(x);
}

}  // namespace eipc
