#include "sim/collision/piece_shapes.h"

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
  const std::vector<SurfacePiece::Relative>& relatives = patches_->pieces[piece].relatives;
  const auto it = std::lower_bound(relatives.begin(), relatives.end(), other,
                                   [](const SurfacePiece::Relative& r, int32_t p) { return r.piece < p; });
  return it != relatives.end() && it->piece == other ? it->detour : std::numeric_limits<double>::infinity();
}

Mat3 PieceShapes::Mean(const SurfacePatch& a, const SurfacePatch& b) const {
  Mat3 sum = Mat3::Zero();
  for (int i = 0; i < a.count; ++i) sum += balls_[a.pieces[i]].middle;
  for (int i = 0; i < b.count; ++i) sum += balls_[b.pieces[i]].middle;
  return sum / (a.count + b.count);
}

PieceShapes::Extent PieceShapes::ExtentAround(const Mat3& m, const SurfacePatch& a, const SurfacePatch& b) const {
  Extent out;
  const auto look = [&](const Ball& ball) {
    const double distance = kRoundUp * (ball.middle - m).norm();
    out.distance = std::max(out.distance, distance);
    out.radius = std::max(out.radius, ball.radius);
    out.reach = std::max(out.reach, distance + ball.radius);
  };
  for (int i = 0; i < a.count; ++i) look(balls_[a.pieces[i]]);
  for (int i = 0; i < b.count; ++i) look(balls_[b.pieces[i]]);
  return out;
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
  // M = one of them may do. If not, their mean, unless that cannot do either: the farthest ball reaches half as far from there or
  // more, and smallest singular values differ by no more than their matrices do.
  const Ball& first = balls_[a.pieces[0]];
  const Extent from_first = ExtentAround(first.middle, a, b);
  if (first.stretch - from_first.reach * factor >= needed) return true;
  const double least = std::max(0.5 * from_first.reach, from_first.radius);
  if (first.stretch + from_first.distance - least * factor < needed) return false;
  const Mat3 mean = Mean(a, b);
  return SmallestStretch(mean) - ExtentAround(mean, a, b).reach * factor >= needed;
}

}  // namespace eipc
