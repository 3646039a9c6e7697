#include "sim/linalg/spd_solver.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/linalg/dense_kernel.h"

namespace eipc {

using Supernode = SupernodalStructure::Supernode;

// Small chunks: what a pool holds beyond what is in use, every world pays for. Blocks beyond the largest pooled size would go
// through the heap.
constexpr size_t kBlocksAChunk = 2;

SpdSolver::SpdSolver(Interrupt* interrupt)
    : interrupt_(interrupt),
      pool_(std::make_unique<std::pmr::unsynchronized_pool_resource>(std::pmr::pool_options{kBlocksAChunk, size_t{1} << 22})),
      structure_(pool_.get()) {}

void SpdSolver::Analyze(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed) {
  structure_ = SupernodalStructure(pool_.get());  // gives back what the next may use
  structure_ = AnalyzePattern(h, changing, fixed, pool_.get());
  // Kernels read up to three rows past a panel's end.
  panels_.assign(structure_.panel_entries + 8, 0.0);
  int64_t work = structure_.work_entries;
  for (const Supernode& s : structure_.supernodes) work = std::max<int64_t>(work, 6LL * (s.stride + 8));
  work_.resize(work + 8);
  changed_.assign(structure_.supernodes.size(), 1);
  permuted_.resize(3 * structure_.nodes);
  valid_ = false;
}

void SpdSolver::MarkChanged(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  if (!valid_ || fixed != last_fixed_ || h.values().size() != last_values_.size()) {
    std::fill(changed_.begin(), changed_.end(), 1);
    return;
  }
  std::fill(changed_.begin(), changed_.end(), 0);
  for (size_t s = 0; s < structure_.supernodes.size(); ++s) {
    for (size_t i = 0; i < structure_.blocks_of[s].size() && !changed_[s]; ++i) {
      const int64_t k = structure_.blocks_of[s][i];
      changed_[s] = std::memcmp(h.values().data() + 9 * k, last_values_.data() + 9 * k, 9 * sizeof(double)) != 0;
    }
    // Whatever it updates changes with it: the supernodes of all its rows are ancestors, reached through the parents.
    const int32_t parent = structure_.supernodes[s].parent;
    if (changed_[s] && parent >= 0) changed_[parent] = 1;
  }
}

void SpdSolver::LoadColumns(const BlockMatrix& h, const std::vector<uint8_t>& fixed, int s) {
  const Supernode& node = structure_.supernodes[s];
  std::fill_n(panels_.data() + node.panel, static_cast<int64_t>(node.stride) * 3 * node.columns(), 0.0);
  for (const int64_t k : structure_.blocks_of[s]) {
    const int32_t c = structure_.block_column[k], r = h.rows()[k];
    const SupernodalStructure::Target& t = structure_.targets[k];
    Eigen::Map<Mat3, 0, Eigen::OuterStride<>> out(panels_.data() + t.offset, Eigen::OuterStride<>(t.stride));
    if (fixed[c] || fixed[r]) {
      if (r == c) out.setIdentity();
      continue;
    }
    const Eigen::Map<const Mat3> block(h.values().data() + 9 * k);
    if (t.transposed) {
      out = block.transpose();
    } else {
      out = block;
    }
  }
}

void SpdSolver::ApplyUpdates(int s) {
  const Supernode& node = structure_.supernodes[s];
  double* panel = panels_.data() + node.panel;
  for (const SupernodalStructure::Update& u : structure_.updates[s]) {
    const Supernode& source = structure_.supernodes[u.source];
    const int64_t rows = 3 * static_cast<int64_t>(u.relative.size());
    const int64_t columns = 3 * (u.last - u.first);
    const int64_t stride = (rows + 3) / 4 * 4;
    const double* a = panels_.data() + source.panel + 3 * u.first;
    MultiplyTransposed(rows, columns, 3 * source.columns(), a, source.stride, a, source.stride, work_.data(), stride);
    for (int32_t j = 0; j < u.last - u.first; ++j) {
      double* target = panel + 3LL * u.relative[j] * node.stride;
      const double* product = work_.data() + 3 * j * stride;
      for (size_t i = j; i < u.relative.size(); ++i) {
        double* out = target + 3 * u.relative[i];
        const double* in = product + 3 * i;
        for (int d = 0; d < 3; ++d) {
          out[d * node.stride] -= in[d * stride];
          out[d * node.stride + 1] -= in[d * stride + 1];
          out[d * node.stride + 2] -= in[d * stride + 2];
        }
      }
    }
  }
}

// Cholesky of the panel's leading square and the triangular solve of the rows below it, strips of six columns at a time: a strip
// receives all earlier columns in one product, then is finished column by column.
bool SpdSolver::FactorPanel(int s) {
  const Supernode& node = structure_.supernodes[s];
  const int64_t stride = node.stride, rows = 3 * static_cast<int64_t>(node.rows.size()), columns = 3 * node.columns();
  double* panel = panels_.data() + node.panel;
  for (int64_t strip = 0; strip < columns; strip += 6) {
    if (Raised(interrupt_)) return false;
    const int64_t width = std::min<int64_t>(6, columns - strip);
    if (strip > 0) {
      const int64_t m = rows - strip, ldc = (m + 3) / 4 * 4;
      MultiplyTransposed(m, width, strip, panel + strip, stride, panel + strip, stride, work_.data(), ldc);
      for (int64_t j = 0; j < width; ++j) {
        double* column = panel + (strip + j) * stride + strip;
        for (int64_t i = j; i < m; ++i) column[i] -= work_[j * ldc + i];
      }
    }
    for (int64_t j = strip; j < strip + width; ++j) {
      double* column = panel + j * stride;
      for (int64_t p = strip; p < j; ++p) {
        const double* before = panel + p * stride;
        const double factor = before[j];
        for (int64_t i = j; i < rows; ++i) column[i] -= factor * before[i];
      }
      if (!(column[j] > 0) || !std::isfinite(column[j])) return false;
      const double inverse = 1 / std::sqrt(column[j]);
      for (int64_t i = j; i < rows; ++i) column[i] *= inverse;
    }
  }
  return true;
}

bool SpdSolver::Factorize(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  MarkChanged(h, fixed);
  valid_ = false;
  computed_ = 0;
  for (size_t s = 0; s < structure_.supernodes.size(); ++s) {
    if (!changed_[s]) continue;
    ++computed_;
    LoadColumns(h, fixed, static_cast<int>(s));
    ApplyUpdates(static_cast<int>(s));
    if (!FactorPanel(static_cast<int>(s))) return false;
  }
  last_values_ = h.values();
  last_fixed_ = fixed;
  valid_ = true;
  return true;
}

void SpdSolver::Solve(VecX* rhs) {
  for (int32_t i = 0; i < structure_.nodes; ++i) permuted_.segment<3>(3 * i) = rhs->segment<3>(3 * structure_.order[i]);
  double* x = permuted_.data();
  for (const Supernode& node : structure_.supernodes) {  // L y = b
    const double* panel = panels_.data() + node.panel;
    const int64_t columns = 3 * node.columns();
    double* own = x + 3 * node.begin;
    const int64_t rows = 3 * static_cast<int64_t>(node.rows.size());
    // What it takes from the rows below is gathered, so that columns run through vector registers; the order of sums is the same.
    double* below = work_.data();
    for (size_t r = node.columns(); r < node.rows.size(); ++r) std::copy_n(x + 3 * node.rows[r], 3, below + 3 * r);
    for (int64_t j = 0; j < columns; ++j) {
      const double* column = panel + j * node.stride;
      own[j] /= column[j];
      for (int64_t i = j + 1; i < columns; ++i) own[i] -= column[i] * own[j];
      for (int64_t i = columns; i < rows; ++i) below[i] -= column[i] * own[j];
    }
    for (size_t r = node.columns(); r < node.rows.size(); ++r) std::copy_n(below + 3 * r, 3, x + 3 * node.rows[r]);
  }
  for (size_t s = structure_.supernodes.size(); s-- > 0;) {  // L^T x = y
    const Supernode& node = structure_.supernodes[s];
    const double* panel = panels_.data() + node.panel;
    const int64_t columns = 3 * node.columns();
    double* own = x + 3 * node.begin;
    for (int64_t j = columns; j-- > 0;) {
      const double* column = panel + j * node.stride;
      double sum = own[j];
      for (size_t r = node.columns(); r < node.rows.size(); ++r) {
        const double* in = x + 3 * node.rows[r];
        for (int d = 0; d < 3; ++d) sum -= column[3 * r + d] * in[d];
      }
      for (int64_t i = j + 1; i < columns; ++i) sum -= column[i] * own[i];
      own[j] = sum / column[j];
    }
  }
  for (int32_t i = 0; i < structure_.nodes; ++i) rhs->segment<3>(3 * structure_.order[i]) = permuted_.segment<3>(3 * i);
}

}  // namespace eipc
