#ifndef EIPC_SIM_LINALG_PANEL_FACTOR_H_
#define EIPC_SIM_LINALG_PANEL_FACTOR_H_

#include <cstdint>

#include "sim/base/interrupt.h"

namespace eipc {

// The columns of a supernode, column-major with leading dimension `stride`, which is `rows` rounded up to a multiple of 4: their
// own square on top, lower triangle, and what lies below it.
struct Panel {
  double* values = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;

  // Rows that FactorRows takes first: the square, up to a multiple of 4.
  int64_t top() const { return columns + 3 < rows ? (columns + 3) / 4 * 4 : rows; }
};

// Rows [begin, end) of the Cholesky factor of a panel from which all updates of other supernodes have been taken. First [0, top())
// or more, then any pieces of the rest, in any order or at once: the bits of a row do not depend on its piece, as long as the
// compiler contracts products and sums alike for four rows and for one (panel_factor_test.cc). begin: a multiple of 4; end:
// likewise, or the panel's last row. False when the square is not positive definite, or when interrupted.
bool FactorRows(const Panel& panel, int64_t begin, int64_t end, Interrupt* interrupt);

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_PANEL_FACTOR_H_
