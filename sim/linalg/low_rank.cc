#include "sim/linalg/low_rank.h"

#include "sim/base/eigen_copies.h"

namespace eipc {

VecX& LowRank::Add(double w, Eigen::Index size) {
  if (static_cast<size_t>(count_) == vectors_.size()) {
    vectors_.emplace_back();
    weights_.push_back(0);
  }
  weights_[count_] = w;
  vectors_[count_].setZero(size);
  return vectors_[count_++];
}

void LowRank::AddTimes(const VecX& x, VecX* y) const {
  for (int k = 0; k < count_; ++k) *y += (weights_[k] * vectors_[k].dot(x)) * vectors_[k];
}

bool Woodbury::Prepare(const LowRank& update, const std::vector<uint8_t>& fixed, const Solve& solve) {
  count_ = update.count();
  if (count_ == 0) return true;
  if (masked_.size() < static_cast<size_t>(count_)) {
    masked_.resize(count_);
    solved_.resize(count_);
  }
  for (int k = 0; k < count_; ++k) {
    masked_[k] = update.vector(k);
    for (size_t n = 0; n < fixed.size(); ++n) {
      if (fixed[n]) masked_[k].segment<3>(3 * n).setZero();
    }
    solved_[k] = masked_[k];
    solve(&solved_[k]);
  }
  weights_.resize(count_);
  scaled_.setIdentity(count_, count_);
  for (int i = 0; i < count_; ++i) {
    weights_[i] = update.weight(i);
    for (int j = 0; j < count_; ++j) scaled_(i, j) += weights_[i] * masked_[i].dot(solved_[j]);
  }
  lu_.compute(scaled_);
  return scaled_.allFinite() && lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
}

void Woodbury::Correct(VecX* z) {
  if (count_ == 0) return;
  along_.resize(count_);
  for (int k = 0; k < count_; ++k) along_[k] = weights_[k] * masked_[k].dot(*z);
  share_ = lu_.solve(along_);
  for (int k = 0; k < count_; ++k) *z -= share_[k] * solved_[k];
}

}  // namespace eipc
