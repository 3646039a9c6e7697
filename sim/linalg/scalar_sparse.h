#ifndef EIPC_SIM_LINALG_SCALAR_SPARSE_H_
#define EIPC_SIM_LINALG_SCALAR_SPARSE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Symmetric node-by-node matrix, both triangles stored by rows; it acts on each of the three coordinates alike (M tensor I3).
struct ScalarSparse {
  int32_t n = 0;
  std::vector<int32_t> row_start;  // n + 1
  std::vector<int32_t> columns;    // sorted within a row
  std::vector<double> values;

  struct Entry {
    int32_t row, column;
    double value;
  };
  // Entries of both triangles; repeated ones add up in the order given.
  static ScalarSparse FromEntries(int32_t n, std::vector<Entry> entries) {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.row != b.row ? a.row < b.row : a.column < b.column; });
    ScalarSparse m;
    m.n = n;
    m.row_start.assign(n + 1, 0);
    for (size_t i = 0; i < entries.size(); ++i) {
      const bool repeated = i > 0 && entries[i].row == entries[i - 1].row && entries[i].column == entries[i - 1].column;
      if (repeated) {
        m.values.back() += entries[i].value;
      } else {
        m.columns.push_back(entries[i].column);
        m.values.push_back(entries[i].value);
        ++m.row_start[entries[i].row + 1];
      }
    }
    for (int32_t i = 0; i < n; ++i) m.row_start[i + 1] += m.row_start[i];
    return m;
  }

  // (M y)_row for stacked 3-vectors y (size 3 n).
  Vec3 RowTimes(int32_t row, const VecX& y) const {
    Vec3 sum = Vec3::Zero();
    for (int32_t k = row_start[row]; k < row_start[row + 1]; ++k) sum += values[k] * y.segment<3>(3 * columns[k]);
    return sum;
  }
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_SCALAR_SPARSE_H_
