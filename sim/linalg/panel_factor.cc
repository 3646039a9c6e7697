#include "sim/linalg/panel_factor.h"

#include <algorithm>
#include <cmath>

#include "sim/base/quad.h"
#include "sim/linalg/dense_kernel.h"

namespace eipc {
namespace {

// Rows [begin, end) of column j, whose kBefore columns before it have not been taken off yet: takes them off and divides by the
// root of the diagonal, which is found where row j is among them. False when that is not positive.
template <int kBefore>
bool FinishColumn(int64_t j, int64_t begin, int64_t end, int64_t stride, double* column) {
  const double* before[kBefore + 1];
  double factor[kBefore + 1];
  double diagonal = column[j];
  for (int p = 0; p < kBefore; ++p) {
    before[p] = column - (kBefore - p) * stride;
    factor[p] = before[p][j];
    diagonal -= factor[p] * factor[p];
  }
  double root = column[j];
  int64_t i = begin;
  if (begin <= j) {
    if (!(diagonal > 0) || !std::isfinite(diagonal)) return false;
    root = std::sqrt(diagonal);
    column[j] = root;
    i = j + 1;
  }
  const double inverse = 1 / root;
  for (; i + 4 <= end; i += 4) {
    Quad x = LoadQuad(column + i);
    for (int p = 0; p < kBefore; ++p) x -= Splat(factor[p]) * LoadQuad(before[p] + i);
    StoreQuad(x * Splat(inverse), column + i);
  }
  for (; i < end; ++i) {
    double x = column[i];
    for (int p = 0; p < kBefore; ++p) x -= factor[p] * before[p][i];
    column[i] = x * inverse;
  }
  return true;
}

}  // namespace

// Strips of six columns at a time: a strip receives all earlier columns in one product, then is finished column by column.
bool FactorRows(const Panel& panel, int64_t begin, int64_t end, Interrupt* interrupt) {
  using Finish = bool (*)(int64_t, int64_t, int64_t, int64_t, double*);
  constexpr Finish kFinish[6] = {FinishColumn<0>, FinishColumn<1>, FinishColumn<2>,
                                 FinishColumn<3>, FinishColumn<4>, FinishColumn<5>};
  for (int64_t strip = 0; strip < panel.columns; strip += 6) {
    if (Raised(interrupt)) return false;
    const int64_t width = std::min<int64_t>(6, panel.columns - strip);
    // From a multiple of four, so that whole quads end where columns do. What this writes above the diagonal is never read below
    // it.
    const int64_t top = std::max(begin, strip / 4 * 4);
    double* const columns = panel.values + strip * panel.stride;
    if (strip > 0) {
      SubtractTransposed(end - top, width, strip, panel.values + top, panel.stride, panel.values + strip, panel.stride,
                         columns + top, panel.stride);
    }
    for (int64_t j = 0; j < width; ++j) {
      if (!kFinish[j](strip + j, begin, end, panel.stride, columns + j * panel.stride)) return false;
    }
  }
  return true;
}

}  // namespace eipc
