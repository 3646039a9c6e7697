#ifndef EIPC_SIM_ENERGY_COORDINATE_ROWS_H_
#define EIPC_SIM_ENERGY_COORDINATE_ROWS_H_

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

// a += s b.
inline void AddScaled(double s, const double* b, size_t size, double* a) {
  for (size_t i = 0; i < size; i += 4) StoreQuad(LoadQuad(a + i) + s * LoadQuad(b + i), a + i);
}

// sum_k a_k b_k^T.
inline Mat3 OuterSum(const Rows& a, const Rows& b, size_t stride) {
  Mat3 m;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      m(static_cast<int>(i), static_cast<int>(j)) = DotRows(a.data() + i * stride, b.data() + j * stride, stride);
    }
  }
  return m;
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
inline void AddCross(const Vec3& w, const Rows& a, size_t stride, Rows* out) {
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3, l = (i + 2) % 3;
    for (size_t k = 0; k < stride; k += 4) {
      double* at = out->data() + i * stride + k;
      StoreQuad(LoadQuad(at) + w[static_cast<int>(j)] * LoadQuad(a.data() + l * stride + k) -
                    w[static_cast<int>(l)] * LoadQuad(a.data() + j * stride + k),
                at);
    }
  }
}

// f_m = M y_m for N vectors, M with 3 * stride rows and 3 * n columns (j * n + l), column-major.
template <size_t N>
void MultiplyRows(const double* matrix, size_t n, size_t stride, const std::array<const double*, N>& y,
                  const std::array<double*, N>& f) {
  const size_t rows = 3 * stride;
  for (size_t r = 0; r < rows; r += 12) {
    Quad sum[N][3] = {};
    for (size_t j = 0; j < 3; ++j) {
      const double* column = matrix + j * n * rows + r;
      for (size_t l = 0; l < n; ++l, column += rows) {
        const Quad a = LoadQuad(column), b = LoadQuad(column + 4), c = LoadQuad(column + 8);
        for (size_t m = 0; m < N; ++m) {
          const double scale = y[m][j * stride + l];
          sum[m][0] += scale * a, sum[m][1] += scale * b, sum[m][2] += scale * c;
        }
      }
    }
    for (size_t m = 0; m < N; ++m) {
      for (size_t q = 0; q < 3; ++q) StoreQuad(sum[m][q], f[m] + r + 4 * q);
    }
  }
}

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_COORDINATE_ROWS_H_
