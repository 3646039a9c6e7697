#include "sim/linalg/incomplete_cholesky.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>

#include "sim/base/quad.h"

namespace eipc {
namespace {

using Block3 = Eigen::Map<Mat3>;
using ConstBlock3 = Eigen::Map<const Mat3>;

// Inverse of the lower Cholesky factor of a 3x3 block; false when a pivot is not above `least`.
bool InverseFactor(const Mat3& a, const Vec3& least, Mat3* inverse) {
  Mat3 l = Mat3::Zero();
  for (int j = 0; j < 3; ++j) {
    const double pivot = a(j, j) - l.row(j).head(j).squaredNorm();
    if (!(pivot > least[j]) || !std::isfinite(pivot)) return false;
    l(j, j) = std::sqrt(pivot);
    for (int i = j + 1; i < 3; ++i) l(i, j) = (a(i, j) - l.row(i).head(j).dot(l.row(j).head(j))) / l(j, j);
  }
  *inverse = Mat3::Identity();
  l.triangularView<Eigen::Lower>().solveInPlace(*inverse);
  return true;
}

// The last column of a block, and something: never beyond the block, where another thread may write.
Quad LastColumn(const double* block) {
  const Quad q = LoadQuad(block + 5);
  return __builtin_shufflevector(q, q, 1, 2, 3, 0);
}

// A block times (a, b, c). The fourth entry means nothing.
Quad Times(const double* block, double a, double b, double c) {
  return LoadQuad(block) * Splat(a) + LoadQuad(block + 3) * Splat(b) + LastColumn(block) * Splat(c);
}

}  // namespace

template <typename Body>
void IncompleteCholesky::ForEachPart(const std::vector<Dissection::Part>& level, Body&& body) const {
  constexpr int32_t kWorthSharing = 200;  // nodes
  int32_t most = 0;
  for (const Dissection::Part& part : level) most = std::max(most, part.nodes());
  if (pool_ == nullptr || pool_->threads() == 1 || level.size() == 1 || most < kWorthSharing || pool_->Pauses()) {
    for (const Dissection::Part& part : level) body(part);
    return;
  }
  pool_->Share(static_cast<int64_t>(level.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) body(level[p]);
  });
}

void IncompleteCholesky::LayOutRows(const BlockMatrix& h) {
  const std::vector<int32_t>& order = dissection_.order();
  place_.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = static_cast<int32_t>(i);
  const auto each_entry = [&](const auto& visit) {
    for (int32_t c = 0; c < h.nodes(); ++c) {
      for (int32_t k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
        const int32_t r = h.rows()[k];
        const bool transposed = place_[r] < place_[c];
        visit(place_[transposed ? c : r], Source{transposed ? r : c, k, transposed});
      }
    }
  };
  row_start_.assign(order.size() + 1, 0);
  each_entry([&](int32_t row, const Source&) { ++row_start_[row + 1]; });
  std::partial_sum(row_start_.begin(), row_start_.end(), row_start_.begin());
  sources_.resize(row_start_.back());
  std::vector<int32_t> next(row_start_.begin(), row_start_.end() - 1);
  each_entry([&](int32_t row, const Source& source) { sources_[next[row]++] = source; });
  for (size_t i = 0; i + 1 < row_start_.size(); ++i) {
    std::sort(sources_.begin() + row_start_[i], sources_.begin() + row_start_[i + 1],
              [&](const Source& a, const Source& b) { return place_[a.node] < place_[b.node]; });
  }
}

void IncompleteCholesky::FindUpdates() {
  const std::vector<int32_t>& order = dissection_.order();
  std::vector<int32_t> slot(order.size(), -1);  // in row i, by node
  updates_.clear();
  update_start_.assign(1, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    for (int32_t k = row_start_[i]; k < row_start_[i + 1]; ++k) slot[sources_[k].node] = k;
    for (int32_t target = row_start_[i]; target < row_start_[i + 1]; ++target) {
      const int32_t j = place_[sources_[target].node];
      for (int32_t right = row_start_[j]; right < row_start_[j + 1] - 1; ++right) {
        const int32_t left = slot[sources_[right].node];
        if (left >= 0) updates_.push_back({left, right});
      }
      update_start_.push_back(static_cast<int64_t>(updates_.size()));
    }
    for (int32_t k = row_start_[i]; k < row_start_[i + 1]; ++k) slot[sources_[k].node] = -1;
  }
}

void IncompleteCholesky::LayOut(const BlockMatrix& h) {
  pattern_columns_ = h.column_start();
  pattern_rows_ = h.rows();
  dissection_.LayOut(h, least_part_);
  LayOutRows(h);
  FindUpdates();
  values_.assign(9 * sources_.size(), 0.0);
  diagonal_.resize(3 * h.nodes());
}

void IncompleteCholesky::Load(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  for (const std::vector<Dissection::Part>& level : dissection_.levels()) {
    ForEachPart(level, [&](const Dissection::Part& part) { LoadRows(part, h, fixed); });
  }
}

void IncompleteCholesky::LoadRows(const Dissection::Part& part, const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  for (int32_t i = part.begin; i < part.end; ++i) {
    const int32_t node = dissection_.order()[i];
    for (int32_t k = row_start_[i]; k < row_start_[i + 1]; ++k) {
      const Source& s = sources_[k];
      Block3 block(values_.data() + 9 * static_cast<int64_t>(k));
      const ConstBlock3 entry(h.values().data() + 9 * static_cast<int64_t>(s.slot));
      if (fixed[node] || fixed[s.node]) {
        block.setZero();
        if (s.node == node) block.setIdentity();
      } else if (s.transposed) {
        block = entry.transpose();
      } else {
        block = entry;
        if (s.node == node) block.diagonal() *= 1 + shift_;
      }
      if (s.node == node) diagonal_.segment<3>(3 * node) = block.diagonal();
    }
  }
}

bool IncompleteCholesky::FactorRows(const Dissection::Part& part) {
  constexpr double kLeastPivot = 1e-6;  // of the diagonal entry: a smaller one is what rounding or dropping left
  const auto at = [this](int32_t slot) { return values_.data() + 9 * static_cast<int64_t>(slot); };
  for (int32_t i = part.begin; i < part.end; ++i) {
    const int32_t node = dissection_.order()[i];
    for (int32_t target = row_start_[i]; target < row_start_[i + 1]; ++target) {
      std::array<Quad, 3> sum = {LoadQuad(at(target)), LoadQuad(at(target) + 3), LastColumn(at(target))};
      for (int64_t u = update_start_[target]; u < update_start_[target + 1]; ++u) {
        const double* right = at(updates_[u].right);
        for (int c = 0; c < 3; ++c) sum[c] -= Times(at(updates_[u].left), right[c], right[c + 3], right[c + 6]);
      }
      Block3 block(at(target));
      for (int c = 0; c < 3; ++c) block.col(c) << sum[c][0], sum[c][1], sum[c][2];
      if (sources_[target].node == node) {
        Mat3 inverse;
        if (!InverseFactor(block, kLeastPivot * diagonal_.segment<3>(3 * node), &inverse)) return false;
        block = inverse;
      } else {
        const int32_t j = place_[sources_[target].node];
        block = (block * ConstBlock3(at(row_start_[j + 1] - 1)).transpose()).eval();
      }
    }
  }
  return true;
}

bool IncompleteCholesky::Factor() {
  std::atomic<bool> factored = true;
  for (const std::vector<Dissection::Part>& level : dissection_.levels()) {
    ForEachPart(level, [&](const Dissection::Part& part) {
      if (!FactorRows(part)) factored.store(false, std::memory_order_relaxed);
    });
    if (!factored.load(std::memory_order_relaxed)) return false;
  }
  return true;
}

bool IncompleteCholesky::Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  constexpr double kFirstShift = 1e-3, kGrowth = 4, kLargestShift = 1e3;
  if (h.column_start() != pattern_columns_ || h.rows() != pattern_rows_) LayOut(h);
  for (shift_ = 0; shift_ <= kLargestShift; shift_ = shift_ > 0 ? kGrowth * shift_ : kFirstShift) {
    Load(h, fixed);
    if (!(diagonal_.minCoeff() > 0)) return false;
    if (Factor()) return true;
  }
  return false;
}

void IncompleteCholesky::SolveRows(const Dissection::Part& part, VecX* z) const {
  for (int32_t i = part.begin; i < part.end; ++i) {
    const int32_t last = row_start_[i + 1] - 1;
    double* own = z->data() + 3 * static_cast<int64_t>(dissection_.order()[i]);
    Quad sum = LoadThree(own);
    const double* block = values_.data() + 9 * static_cast<int64_t>(row_start_[i]);
    for (int32_t k = row_start_[i]; k < last; ++k, block += 9) {
      const double* other = z->data() + 3 * static_cast<int64_t>(sources_[k].node);
      sum -= Times(block, other[0], other[1], other[2]);
    }
    const Quad solved = Times(block, sum[0], sum[1], sum[2]);
    for (int d = 0; d < 3; ++d) own[d] = solved[d];
  }
}

void IncompleteCholesky::SolveColumns(const Dissection::Part& part, VecX* z) const {
  for (int32_t i = part.end; i-- > part.begin;) {
    const int32_t last = row_start_[i + 1] - 1;
    const int32_t node = dissection_.order()[i];
    const Vec3 own = ConstBlock3(values_.data() + 9 * static_cast<int64_t>(last)).transpose() * z->segment<3>(3 * node);
    z->segment<3>(3 * node) = own;
    for (int32_t k = row_start_[i]; k < last; ++k) {
      z->segment<3>(3 * sources_[k].node).noalias() -= ConstBlock3(values_.data() + 9 * static_cast<int64_t>(k)).transpose() * own;
    }
  }
}

void IncompleteCholesky::Apply(const VecX& r, VecX* z) const {
  *z = r;
  const std::vector<std::vector<Dissection::Part>>& levels = dissection_.levels();
  for (auto level = levels.begin(); level != levels.end(); ++level) {
    ForEachPart(*level, [&](const Dissection::Part& part) { SolveRows(part, z); });
  }
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    ForEachPart(*level, [&](const Dissection::Part& part) { SolveColumns(part, z); });
  }
}

}  // namespace eipc
