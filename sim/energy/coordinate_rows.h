#ifndef EIPC_SIM_ENERGY_COORDINATE_ROWS_H_
#define EIPC_SIM_ENERGY_COORDINATE_ROWS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "sim/base/quad.h"
#include "sim/base/types.h"

// Vectors of the positions of n vertices by coordinate: entry i * stride + k is coordinate i of vertex k. stride is a multiple of
// four, and the entries between n and stride are zero and stay so.
namespace eipc {

using Rows = std::vector<double>;

inline double DotRows(const double* a, const double* b, size_t size) {
  Quad sum = {};
  for (size_t i = 0; i < size; i += 4) sum += LoadQuad(a + i) * LoadQuad(b + i);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

inline double DotRows(const Rows& a, const Rows& b) { return DotRows(a.data(), b.data(), a.size()); }

// The scalar products of y with six vectors of `size` entries that lie one behind the other.
inline std::array<double, 6> DotSix(const double* six, const double* y, size_t size) {
  Quad sum[6] = {};
  for (size_t i = 0; i < size; i += 4) {
    const Quad at = LoadQuad(y + i);
    for (size_t q = 0; q < 6; ++q) sum[q] += LoadQuad(six + q * size + i) * at;
  }
  std::array<double, 6> out;
  for (size_t q = 0; q < 6; ++q) out[q] = (sum[q][0] + sum[q][1]) + (sum[q][2] + sum[q][3]);
  return out;
}

// a += sum_q s_q times vector q of six that lie one behind the other.
inline void AddSix(const std::array<double, 6>& s, const double* six, size_t size, double* a) {
  for (size_t i = 0; i < size; i += 4) {
    Quad sum = LoadQuad(a + i);
    for (size_t q = 0; q < 6; ++q) sum += s[q] * LoadQuad(six + q * size + i);
    StoreQuad(sum, a + i);
  }
}

// a += s b.
inline void AddScaled(double s, const double* b, size_t size, double* a) {
  for (size_t i = 0; i < size; i += 4) StoreQuad(LoadQuad(a + i) + s * LoadQuad(b + i), a + i);
}

// The scalar products of three vectors of `size` entries with three others.
inline Mat3 Products(const std::array<const double*, 3>& a, const std::array<const double*, 3>& b, size_t size) {
  Quad sum[3][3] = {};
  for (size_t k = 0; k < size; k += 4) {
    const Quad b0 = LoadQuad(b[0] + k), b1 = LoadQuad(b[1] + k), b2 = LoadQuad(b[2] + k);
    for (size_t i = 0; i < 3; ++i) {
      const Quad at = LoadQuad(a[i] + k);
      sum[i][0] += at * b0, sum[i][1] += at * b1, sum[i][2] += at * b2;
    }
  }
  Mat3 m;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) m(i, j) = (sum[i][j][0] + sum[i][j][1]) + (sum[i][j][2] + sum[i][j][3]);
  }
  return m;
}

// sum_k a_k b_k^T.
inline Mat3 OuterSum(const Rows& a, const Rows& b, size_t stride) {
  const auto coordinates = [stride](const Rows& rows) {
    return std::array<const double*, 3>{rows.data(), rows.data() + stride, rows.data() + 2 * stride};
  };
  return Products(coordinates(a), coordinates(b), stride);
}

// sum_k a_k x b_k, of the outer sum of both.
inline Vec3 CrossSum(const Mat3& outer) {
  return {outer(1, 2) - outer(2, 1), outer(2, 0) - outer(0, 2), outer(0, 1) - outer(1, 0)};
}

// out_k = m a_k.
inline void TurnRows(const Mat3& m, const Rows& a, size_t stride, Rows* out) {
  for (size_t i = 0; i < 3; ++i) {
    const auto row = static_cast<int>(i);
    for (size_t k = 0; k < stride; k += 4) {
      StoreQuad(m(row, 0) * LoadQuad(a.data() + k) + m(row, 1) * LoadQuad(a.data() + stride + k) +
                    m(row, 2) * LoadQuad(a.data() + 2 * stride + k),
                out->data() + i * stride + k);
    }
  }
}

// out_k += w x a_k.
inline void AddCross(const Vec3& w, const Rows& a, size_t stride, double* out) {
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, l = (i + 2) % 3;
    for (size_t k = 0; k < stride; k += 4) {
      double* at = out + i * stride + k;
      StoreQuad(LoadQuad(at) + w[static_cast<int>(j)] * LoadQuad(a.data() + l * stride + k) -
                    w[static_cast<int>(l)] * LoadQuad(a.data() + j * stride + k),
                at);
    }
  }
}

// What the columns of C nodes from l on add to MultiplySymmetric's f = M y: their own quad's rows for these nodes, those below both
// for them and, across the diagonal, for the nodes below.
template <size_t C>
void MultiplyColumns(const double* matrix, size_t n, size_t stride, size_t l, const double* y, double* f) {
  const size_t rows = 3 * stride, own = l / 4 * 4;
  Quad scale[C][3], across[C][3] = {};
  for (size_t c = 0; c < C; ++c) {
    for (size_t j = 0; j < 3; ++j) scale[c][j] = Splat(y[j * stride + l + c]);
  }
  for (size_t i = 0; i < 3; ++i) {
    const double *const entries = matrix + l * rows + i * stride, *const in = y + i * stride;
    double* const out = f + i * stride;
    Quad sum = LoadQuad(out + own);
    for (size_t c = 0; c < C; ++c) {
      for (size_t j = 0; j < 3; ++j) sum += scale[c][j] * LoadQuad(entries + (j * n + c) * rows + own);
    }
    StoreQuad(sum, out + own);
    for (size_t k = own + 4; k < stride; k += 4) {
      const Quad below = LoadQuad(in + k);
      sum = LoadQuad(out + k);
      for (size_t c = 0; c < C; ++c) {
        for (size_t j = 0; j < 3; ++j) {
          const Quad entry = LoadQuad(entries + (j * n + c) * rows + k);
          sum += scale[c][j] * entry;
          across[c][j] += entry * below;
        }
      }
      StoreQuad(sum, out + k);
    }
  }
  for (size_t j = 0; j < 3; ++j) {
    Quad sums[4] = {};
    for (size_t c = 0; c < C; ++c) sums[c] = across[c][j];
    Transpose(sums);
    const Quad total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (size_t c = 0; c < C; ++c) f[j * stride + l + c] += total[c];
  }
}

// f = M y, M symmetric with 3 * stride rows and 3 * n columns (j * n + l), column-major. Of the blocks of two quads of nodes it
// reads those below the diagonal alone, each for itself and for the one across: M is larger than the caches of a core where there
// are many nodes, and half of it takes half the time.
inline void MultiplySymmetric(const double* matrix, size_t n, size_t stride, const double* y, double* f) {
  std::fill_n(f, 3 * stride, 0.0);
  size_t l = 0;
  for (; l + 4 <= n; l += 4) MultiplyColumns<4>(matrix, n, stride, l, y, f);
  for (; l < n; ++l) MultiplyColumns<1>(matrix, n, stride, l, y, f);
}

// Three quads of rows, from `row` on, of MultiplyThree's products.
inline void MultiplyRows(const double* matrix, size_t n, size_t stride, size_t row, const std::array<const double*, 3>& y,
                         const std::array<double*, 3>& f) {
  constexpr size_t kQuads = 3;
  Quad sum[3][kQuads] = {};
  const double* column = matrix + row;
  for (size_t j = 0; j < 3; ++j) {
    for (size_t l = 0; l < n; ++l, column += 3 * stride) {
      const Quad scale[3] = {Splat(y[0][j * stride + l]), Splat(y[1][j * stride + l]), Splat(y[2][j * stride + l])};
      for (size_t b = 0; b < kQuads; ++b) {
        const Quad entry = LoadQuad(column + 4 * b);
        for (size_t m = 0; m < 3; ++m) sum[m][b] += scale[m] * entry;
      }
    }
  }
  for (size_t m = 0; m < 3; ++m) {
    for (size_t b = 0; b < kQuads; ++b) StoreQuad(sum[m][b], f[m] + row + 4 * b);
  }
}

// f_m = M y_m for three vectors, M as for MultiplySymmetric, of which it reads all: the sums of three quads of rows fit the
// registers, which is worth more than half the entries.
inline void MultiplyThree(const double* matrix, size_t n, size_t stride, const std::array<const double*, 3>& y,
                          const std::array<double*, 3>& f) {
  // stride is a multiple of four: there are three quads of rows for each of its quads.
  for (size_t row = 0; row < 3 * stride; row += 12) MultiplyRows(matrix, n, stride, row, y, f);
}

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_COORDINATE_ROWS_H_
