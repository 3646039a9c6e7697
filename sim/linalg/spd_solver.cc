#include "sim/linalg/spd_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "sim/base/quad.h"
#include "sim/linalg/dense_kernel.h"

namespace eipc {

using Supernode = SupernodalStructure::Supernode;

namespace {

// Column j of a panel, whose kBefore columns before it have not been taken off yet: takes them off and divides by the root of the
// diagonal. False when that is not positive.
template <int kBefore>
bool FinishColumn(int64_t j, int64_t rows, int64_t stride, double* column) {
  const double* before[kBefore + 1];
  double factor[kBefore + 1];
  double diagonal = column[j];
  for (int p = 0; p < kBefore; ++p) {
    before[p] = column - (kBefore - p) * stride;
    factor[p] = before[p][j];
    diagonal -= factor[p] * factor[p];
  }
  if (!(diagonal > 0) || !std::isfinite(diagonal)) return false;
  const double root = std::sqrt(diagonal), inverse = 1 / root;
  column[j] = root;
  int64_t i = j + 1;
  for (; i + 4 <= rows; i += 4) {
    Quad x = LoadQuad(column + i);
    for (int p = 0; p < kBefore; ++p) x -= Splat(factor[p]) * LoadQuad(before[p] + i);
    StoreQuad(x * Splat(inverse), column + i);
  }
  for (; i < rows; ++i) {
    double x = column[i];
    for (int p = 0; p < kBefore; ++p) x -= factor[p] * before[p][i];
    column[i] = x * inverse;
  }
  return true;
}

// Inline, unlike std::copy_n, whose pieces may overlap.
void CopyThree(const double* from, double* to) { std::memcpy(to, from, 3 * sizeof(double)); }

// y[i] -= c0[i] b0 + c1[i] b1 + c2[i] b2.
void SubtractThree(const double* c, int64_t stride, int64_t begin, int64_t end, const double* b, double* y) {
  const double *c0 = c, *c1 = c + stride, *c2 = c + 2 * stride;
  const Quad b0 = Splat(b[0]), b1 = Splat(b[1]), b2 = Splat(b[2]);
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    StoreQuad(LoadQuad(y + i) - b0 * LoadQuad(c0 + i) - b1 * LoadQuad(c1 + i) - b2 * LoadQuad(c2 + i), y + i);
  }
  for (; i < end; ++i) y[i] = y[i] - b[0] * c0[i] - b[1] * c1[i] - b[2] * c2[i];
}

// Products of three columns with y.
std::array<double, 3> DotThree(const double* c, int64_t stride, int64_t begin, int64_t end, const double* y) {
  const double *c0 = c, *c1 = c + stride, *c2 = c + 2 * stride;
  Quad s[3] = {};
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const Quad at = LoadQuad(y + i);
    s[0] += at * LoadQuad(c0 + i), s[1] += at * LoadQuad(c1 + i), s[2] += at * LoadQuad(c2 + i);
  }
  std::array<double, 3> out;
  for (int k = 0; k < 3; ++k) out[k] = (s[k][0] + s[k][1]) + (s[k][2] + s[k][3]);
  for (; i < end; ++i) out[0] += y[i] * c0[i], out[1] += y[i] * c1[i], out[2] += y[i] * c2[i];
  return out;
}

}  // namespace

SpdSolver::SpdSolver(Interrupt* interrupt) : interrupt_(interrupt) {}

void SpdSolver::Analyze(const BlockMatrix& h, const std::vector<uint8_t>& changing, const std::vector<uint8_t>& fixed) {
  analysis_.Analyze(h, changing, fixed, &structure_);
  // Kernels read up to three rows past a panel's end.
  panels_.assign(structure_.panel_entries + 8, 0.0);
  int64_t work = structure_.work_entries;
  for (const Supernode& s : structure_.supernodes) work = std::max<int64_t>(work, s.stride);
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
    for (const int32_t k : structure_.BlocksOf(static_cast<int32_t>(s))) {
      if (changed_[s]) break;
      // Bits, so that zeros of different sign differ. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
      changed_[s] = std::memcmp(h.values().data() + 9LL * k, last_values_.data() + 9LL * k, 9 * sizeof(double)) != 0;
    }
    // Whatever it updates changes with it: the supernodes of all its rows are ancestors, reached through the parents.
    const int32_t parent = structure_.supernodes[s].parent;
    if (changed_[s] && parent >= 0) changed_[parent] = 1;
  }
}

void SpdSolver::LoadColumns(const BlockMatrix& h, const std::vector<uint8_t>& fixed, int s) {
  const Supernode& node = structure_.supernodes[s];
  std::fill_n(panels_.data() + node.panel, static_cast<int64_t>(node.stride) * 3 * node.columns(), 0.0);
  for (const int32_t k : structure_.BlocksOf(s)) {
    const auto [c, r] = structure_.block_at[k];
    const SupernodalStructure::Target& t = structure_.targets[k];
    Eigen::Map<Mat3, 0, Eigen::OuterStride<>> out(panels_.data() + t.offset, Eigen::OuterStride<>(t.stride));
    if (fixed[c] || fixed[r]) {
      if (r == c) out.setIdentity();
      continue;
    }
    const Eigen::Map<const Mat3> block(h.values().data() + 9LL * k);
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
  for (const SupernodalStructure::Update& u : structure_.UpdatesOf(s)) {
    const Supernode& source = structure_.supernodes[u.source];
    const std::span<const int32_t> relative = structure_.RelativeOf(u);
    const int64_t rows = 3LL * u.relative_count;
    const int64_t columns = 3 * (u.last - u.first);
    const int64_t stride = (rows + 3) / 4 * 4;
    const double* a = panels_.data() + source.panel + 3 * u.first;
    MultiplyTransposed(rows, columns, 3 * source.columns(), a, source.stride, a, source.stride, work_.data(), stride);
    for (int32_t j = 0; j < u.last - u.first; ++j) {
      double* target = panel + 3LL * relative[j] * node.stride;
      const double* product = work_.data() + 3 * j * stride;
      for (int32_t i = j; i < u.relative_count; ++i) {
        double* out = target + 3 * relative[i];
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
  const int64_t stride = node.stride, rows = 3LL * node.row_count, columns = 3 * node.columns();
  double* panel = panels_.data() + node.panel;
  for (int64_t strip = 0; strip < columns; strip += 6) {
    if (Raised(interrupt_)) return false;
    const int64_t width = std::min<int64_t>(6, columns - strip);
    // From a multiple of four, so that whole quads end where columns do. What this writes above the diagonal is never read below
    // it.
    const int64_t top = strip / 4 * 4;
    if (strip > 0) {
      SubtractTransposed(rows - top, width, strip, panel + top, stride, panel + strip, stride, panel + strip * stride + top,
                         stride);
    }
    using Finish = bool (*)(int64_t, int64_t, int64_t, double*);
    constexpr Finish kFinish[6] = {FinishColumn<0>, FinishColumn<1>, FinishColumn<2>,
                                   FinishColumn<3>, FinishColumn<4>, FinishColumn<5>};
    for (int64_t j = 0; j < width; ++j) {
      if (!kFinish[j](strip + j, rows, stride, panel + (strip + j) * stride)) return false;
    }
  }
  return true;
}

// For the next MarkChanged: only what has changed is not there already.
void SpdSolver::KeepValues(const BlockMatrix& h) {
  if (last_values_.size() != h.values().size()) {
    last_values_ = h.values();
    return;
  }
  for (size_t s = 0; s < structure_.supernodes.size(); ++s) {
    if (!changed_[s]) continue;
    for (const int32_t k : structure_.BlocksOf(static_cast<int32_t>(s))) {
      std::memcpy(last_values_.data() + 9LL * k, h.values().data() + 9LL * k, 9 * sizeof(double));
    }
  }
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
  KeepValues(h);
  last_fixed_ = fixed;
  valid_ = true;
  return true;
}

// Entries of x that a supernode's rows name, in one piece.
void SpdSolver::GatherRows(const Supernode& node) {
  const std::span<const int32_t> rows = structure_.RowsOf(node);
  for (size_t r = 0; r < rows.size(); ++r) CopyThree(permuted_.data() + 3 * rows[r], work_.data() + 3 * r);
}

// L y = b, three columns at a time.
void SpdSolver::SolveForward() {
  for (const Supernode& node : structure_.supernodes) {
    const int64_t rows = 3LL * node.row_count;
    GatherRows(node);
    double* y = work_.data();
    for (int64_t j = 0; j < 3 * node.columns(); j += 3) {
      const double* c = panels_.data() + node.panel + j * node.stride;
      y[j] /= c[j];
      y[j + 1] = (y[j + 1] - c[j + 1] * y[j]) / c[node.stride + j + 1];
      y[j + 2] = (y[j + 2] - c[j + 2] * y[j] - c[node.stride + j + 2] * y[j + 1]) / c[2 * node.stride + j + 2];
      SubtractThree(c, node.stride, j + 3, rows, y + j, y);
    }
    const std::span<const int32_t> row_list = structure_.RowsOf(node);
    for (size_t r = 0; r < row_list.size(); ++r) CopyThree(y + 3 * r, permuted_.data() + 3 * row_list[r]);
  }
}

// L^T x = y, three columns at a time.
void SpdSolver::SolveBackward() {
  for (size_t s = structure_.supernodes.size(); s-- > 0;) {
    const Supernode& node = structure_.supernodes[s];
    const int64_t rows = 3LL * node.row_count;
    GatherRows(node);
    double* x = work_.data();
    for (int64_t j = 3 * node.columns() - 3; j >= 0; j -= 3) {
      const double* c = panels_.data() + node.panel + j * node.stride;
      const std::array<double, 3> sum = DotThree(c, node.stride, j + 3, rows, x);
      x[j + 2] = (x[j + 2] - sum[2]) / c[2 * node.stride + j + 2];
      x[j + 1] = (x[j + 1] - sum[1] - c[node.stride + j + 2] * x[j + 2]) / c[node.stride + j + 1];
      x[j] = (x[j] - sum[0] - c[j + 1] * x[j + 1] - c[j + 2] * x[j + 2]) / c[j];
    }
    std::copy_n(x, 3 * node.columns(), permuted_.data() + 3 * node.begin);
  }
}

void SpdSolver::Solve(VecX* rhs) {
  for (int32_t i = 0; i < structure_.nodes; ++i) permuted_.segment<3>(3 * i) = rhs->segment<3>(3 * structure_.order[i]);
  SolveForward();
  SolveBackward();
  for (int32_t i = 0; i < structure_.nodes; ++i) rhs->segment<3>(3 * structure_.order[i]) = permuted_.segment<3>(3 * i);
}

}  // namespace eipc
