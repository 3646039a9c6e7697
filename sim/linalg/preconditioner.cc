#include "sim/linalg/preconditioner.h"

#include <Eigen/Cholesky>

#include "sim/linalg/incomplete_cholesky.h"

namespace eipc {
namespace {

Mat3 DiagonalBlock(const BlockMatrix& h, int32_t node) {
  return Eigen::Map<const Mat3>(h.values().data() + 9 * static_cast<int64_t>(h.column_start()[node]));
}

}  // namespace

std::unique_ptr<Preconditioner> MakePreconditioner(PreconditionerKind kind, ThreadPool* pool) {
  switch (kind) {
    case PreconditionerKind::kDiagonal:
      return std::make_unique<DiagonalPreconditioner>();
    case PreconditionerKind::kBlock:
      return std::make_unique<BlockPreconditioner>();
    case PreconditionerKind::kIncompleteCholesky:
      return std::make_unique<IncompleteCholesky>(pool);
  }
  return nullptr;
}

bool DiagonalPreconditioner::Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  inverse_.setOnes(3 * h.nodes());
  for (int32_t n = 0; n < h.nodes(); ++n) {
    if (fixed[n]) continue;
    const Vec3 diagonal = DiagonalBlock(h, n).diagonal();
    if (!(diagonal.minCoeff() > 0)) return false;
    inverse_.segment<3>(3 * n) = diagonal.cwiseInverse();
  }
  return true;
}

bool BlockPreconditioner::Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) {
  inverse_.assign(h.nodes(), Mat3::Identity());
  for (int32_t n = 0; n < h.nodes(); ++n) {
    if (fixed[n]) continue;
    const Eigen::LLT<Mat3> factor(DiagonalBlock(h, n));
    if (factor.info() != Eigen::Success) return false;
    inverse_[n] = factor.solve(Mat3::Identity());
  }
  return true;
}

void BlockPreconditioner::Apply(const VecX& r, VecX* z) const {
  z->resize(r.size());
  for (size_t n = 0; n < inverse_.size(); ++n) z->segment<3>(3 * n) = inverse_[n] * r.segment<3>(3 * n);
}

}  // namespace eipc
