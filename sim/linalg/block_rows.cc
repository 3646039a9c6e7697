#include "sim/linalg/block_rows.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 256;  // rows

}  // namespace

void BlockRows::LayOut(const BlockMatrix& h) {
  laid_out_columns_ = h.column_start();
  laid_out_rows_ = h.rows();
  const int32_t n = h.nodes();
  row_start_.assign(n + 1, 0);
  const auto each_entry = [&](const auto& visit) {
    for (int32_t c = 0; c < n; ++c) {
      for (int64_t k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
        const int32_t r = h.rows()[k];
        visit(r, Source{k, c, false});
        if (r != c) visit(c, Source{k, r, true});
      }
    }
  };
  each_entry([&](int32_t row, const Source&) { ++row_start_[row + 1]; });
  for (int32_t i = 0; i < n; ++i) row_start_[i + 1] += row_start_[i];
  sources_.resize(row_start_[n]);
  std::vector<int64_t> next(row_start_.begin(), row_start_.end() - 1);
  each_entry([&](int32_t row, const Source& source) { sources_[next[row]++] = source; });
  values_.assign(12 * sources_.size(), 0.0);
}

void BlockRows::Load(const BlockMatrix& h, const std::vector<uint8_t>& fixed, ThreadPool* pool) {
  if (h.column_start() != laid_out_columns_ || h.rows() != laid_out_rows_) LayOut(h);
  if (pool == nullptr) {
    LoadRows(0, nodes(), h, fixed);
  } else {
    pool->ParallelFor(nodes(), kGrain, [&](int64_t begin, int64_t end) { LoadRows(begin, end, h, fixed); });
  }
}

void BlockRows::LoadRows(int64_t begin, int64_t end, const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t k = row_start_[r]; k < row_start_[r + 1]; ++k) {
      const Source& s = sources_[k];
      Eigen::Map<Padded> out(values_.data() + 12 * k);
      const Eigen::Map<const Mat3> block(h.values().data() + 9 * s.slot);
      if (fixed[r] || fixed[s.column]) {
        out.setZero();
        if (s.column == r) out.topRows<3>().setIdentity();
      } else if (s.transposed) {
        out.topRows<3>() = block.transpose();
      } else {
        out.topRows<3>() = block;
      }
    }
  }
}

void BlockRows::MultiplyRows(int64_t begin, int64_t end, const VecX& x, VecX* y) const {
  for (int64_t r = begin; r < end; ++r) {
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    for (int64_t k = row_start_[r]; k < row_start_[r + 1]; ++k) {
      const Eigen::Map<const Padded> block(values_.data() + 12 * k);
      const double* in = x.data() + 3 * static_cast<int64_t>(sources_[k].column);
      sum += block.col(0) * in[0] + block.col(1) * in[1] + block.col(2) * in[2];
    }
    y->segment<3>(3 * r) = sum.head<3>();
  }
}

void BlockRows::Multiply(const VecX& x, VecX* y, ThreadPool* pool) const {
  y->resize(x.size());
  if (pool == nullptr) {
    MultiplyRows(0, nodes(), x, y);
  } else {
    pool->ParallelFor(nodes(), kGrain, [&](int64_t begin, int64_t end) { MultiplyRows(begin, end, x, y); });
  }
}

}  // namespace eipc
