#include "sim/linalg/incomplete_cholesky.h"

#include <cmath>

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

}  // namespace

void IncompleteCholesky::LayOut(const BlockMatrix& h) {
  column_start_ = h.column_start();
  rows_ = h.rows();
  updates_.clear();
  update_start_.assign(1, 0);
  for (int32_t k = 0; k < h.nodes(); ++k) {
    for (int32_t right = column_start_[k] + 1; right < column_start_[k + 1]; ++right) {
      for (int32_t left = right; left < column_start_[k + 1]; ++left) {
        const int64_t target = h.Find(rows_[left], rows_[right]);
        if (target >= 0) updates_.push_back({static_cast<int32_t>(target), left, right});
      }
    }
    update_start_.push_back(static_cast<int64_t>(updates_.size()));
  }
}

void IncompleteCholesky::Load(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  values_ = h.values();
  diagonal_.resize(3 * h.nodes());
  for (int32_t c = 0; c < h.nodes(); ++c) {
    for (int32_t k = column_start_[c]; k < column_start_[c + 1]; ++k) {
      Block3 block(values_.data() + 9 * static_cast<int64_t>(k));
      if (fixed[c] || fixed[rows_[k]]) {
        block.setZero();
        if (rows_[k] == c) block.setIdentity();
      } else if (rows_[k] == c) {
        block.diagonal() *= 1 + shift_;
      }
      if (rows_[k] == c) diagonal_.segment<3>(3 * c) = block.diagonal();
    }
  }
}

// Column by column; each, once finished, updates what lies to its right.
bool IncompleteCholesky::Factor() {
  constexpr double kLeastPivot = 1e-6;  // of the diagonal entry: a smaller one is what rounding or dropping left
  for (size_t c = 0; c + 1 < column_start_.size(); ++c) {
    const int32_t first = column_start_[c];
    Block3 pivot(values_.data() + 9 * static_cast<int64_t>(first));
    Mat3 inverse;
    if (!InverseFactor(pivot, kLeastPivot * diagonal_.segment<3>(3 * c), &inverse)) return false;
    pivot = inverse;
    for (int32_t k = first + 1; k < column_start_[c + 1]; ++k) {
      Block3 block(values_.data() + 9 * static_cast<int64_t>(k));
      block = (block * inverse.transpose()).eval();
    }
    for (int64_t u = update_start_[c]; u < update_start_[c + 1]; ++u) {
      const ConstBlock3 left(values_.data() + 9 * static_cast<int64_t>(updates_[u].left));
      const ConstBlock3 right(values_.data() + 9 * static_cast<int64_t>(updates_[u].right));
      Block3(values_.data() + 9 * static_cast<int64_t>(updates_[u].target)).noalias() -= left * right.transpose();
    }
  }
  return true;
}

bool IncompleteCholesky::Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  constexpr double kFirstShift = 1e-3, kGrowth = 4, kLargestShift = 1e3;
  if (h.column_start() != column_start_ || h.rows() != rows_) LayOut(h);
  for (shift_ = 0; shift_ <= kLargestShift; shift_ = shift_ > 0 ? kGrowth * shift_ : kFirstShift) {
    Load(h, fixed);
    if (!(diagonal_.minCoeff() > 0)) return false;
    if (Factor()) return true;
  }
  return false;
}

void IncompleteCholesky::Apply(const VecX& r, VecX* z) const {
  *z = r;
  const int32_t nodes = static_cast<int32_t>(column_start_.size()) - 1;
  for (int32_t c = 0; c < nodes; ++c) {  // L y = r
    const int64_t first = column_start_[c];
    const Vec3 own = ConstBlock3(values_.data() + 9 * first).triangularView<Eigen::Lower>() * z->segment<3>(3 * c);
    z->segment<3>(3 * c) = own;
    for (int64_t k = first + 1; k < column_start_[c + 1]; ++k) {
      z->segment<3>(3 * rows_[k]).noalias() -= ConstBlock3(values_.data() + 9 * k) * own;
    }
  }
  for (int32_t c = nodes; c-- > 0;) {  // L^T z = y
    const int64_t first = column_start_[c];
    Vec3 sum = z->segment<3>(3 * c);
    for (int64_t k = first + 1; k < column_start_[c + 1]; ++k) {
      sum.noalias() -= ConstBlock3(values_.data() + 9 * k).transpose() * z->segment<3>(3 * rows_[k]);
    }
    z->segment<3>(3 * c) = ConstBlock3(values_.data() + 9 * first).transpose() * sum;
  }
}

Mat3 IncompleteCholesky::Block(int64_t slot) const {
  const ConstBlock3 block(values_.data() + 9 * slot);
  for (size_t c = 0; c + 1 < column_start_.size(); ++c) {
    if (column_start_[c] == slot) return block.inverse();
  }
  return block;
}

}  // namespace eipc
