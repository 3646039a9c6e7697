#include "sim/contact/piece_shapes.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

namespace eipc {
namespace {

constexpr double kRoundUp = 1 + 1e-14;  // covers the rounding of a norm
// Rounding of singular values, and of what is compared with them.
constexpr double kStretchSlack = 1e-6;

double SmallestStretch(const Mat3& f) {
  Eigen::SelfAdjointEigenSolver<Mat3> eigen;
  eigen.computeDirect(f.transpose() * f, Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, eigen.eigenvalues()[0])) - kStretchSlack;
}

}  // namespace

void PieceShapes::Set(int32_t body, const VecX& from, const VecX& to, double slack) {
  for (int32_t p = patches_->body_pieces[body].first; p < patches_->body_pieces[body].second; ++p) {
    const Mat3 f = DeformationGradient(patches_->pieces[p], from), g = DeformationGradient(patches_->pieces[p], to);
    balls_[p].middle = 0.5 * (f + g);
    balls_[p].radius = kRoundUp * 0.5 * (f - g).norm() + slack;
    balls_[p].stretch = SmallestStretch(balls_[p].middle);
  }
}

bool PieceShapes::Cover(int32_t body, const VecX& q) const {
  for (int32_t p = patches_->body_pieces[body].first; p < patches_->body_pieces[body].second; ++p) {
    const Ball& ball = balls_[p];
    if ((DeformationGradient(patches_->pieces[p], q) - ball.middle).squaredNorm() > ball.radius * ball.radius) return false;
  }
  return true;
}

double PieceShapes::Detour(int32_t piece, int32_t other) const {
  if (piece == other) return 1;
  for (const SurfacePiece::Relative& r : patches_->pieces[piece].relatives) {
    if (r.piece == other) return r.detour;
  }
  return std::numeric_limits<double>::infinity();
}

void PieceShapes::Compare(const SurfacePatch& a, const SurfacePatch& b, Mat3* mean, double* deviation) const {
  mean->setZero();
  for (int i = 0; i < a.count; ++i) *mean += balls_[a.pieces[i]].middle;
  for (int i = 0; i < b.count; ++i) *mean += balls_[b.pieces[i]].middle;
  *mean /= a.count + b.count;
  *deviation = 0;
  const auto look = [&](int32_t piece) {
    *deviation = std::max(*deviation, kRoundUp * (balls_[piece].middle - *mean).norm() + balls_[piece].radius);
  };
  for (int i = 0; i < a.count; ++i) look(a.pieces[i]);
  for (int i = 0; i < b.count; ++i) look(b.pieces[i]);
}

// See SurfacePatches. Pairs between two patches are counted in the spread and the least gap of either.
bool PieceShapes::ProveApart(int32_t body, int32_t node, int32_t other) const {
  const std::vector<SurfacePatch>& patches = patches_->patches[body];
  if (patches.empty()) return false;
  const SurfacePatch &a = patches[node], &b = patches[other];
  if (a.count == 0 || b.count == 0) return false;
  const double spread = std::min(a.spread, b.spread), gap = std::max(a.least_gap, b.least_gap);
  if (std::isinf(a.spread) || std::isinf(b.spread)) return false;
  const double needed = kStretchSlack + std::min(kSelfContactShare, dhat_ / gap);
  if (a.count == 1 && b.count == 1 && a.pieces[0] == b.pieces[0]) {
    const Ball& ball = balls_[a.pieces[0]];
    return ball.stretch - ball.radius >= needed;
  }
  double detour = 1;
  for (int k = 0; k < a.count; ++k) {
    for (int l = 0; l < b.count; ++l) detour = std::max(detour, Detour(a.pieces[k], b.pieces[l]));
  }
  const double factor = detour * (a.straddles || b.straddles ? spread : 1);
  if (std::isinf(factor)) return false;
  Mat3 mean;
  double deviation = 0;
  Compare(a, b, &mean, &deviation);
  return SmallestStretch(mean) - deviation * factor >= needed;
}

}  // namespace eipc
