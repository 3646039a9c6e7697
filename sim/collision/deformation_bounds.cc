#include "sim/collision/deformation_bounds.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/collision/region_bounds.h"

namespace eipc {
namespace {

// Rounding of singular values, and of what is compared with them.
constexpr double kStretchSlack = 1e-6;

double SmallestStretch(const Mat3& f) {
  Eigen::SelfAdjointEigenSolver<Mat3> eigen;
  eigen.computeDirect(f.transpose() * f, Eigen::EigenvaluesOnly);
  return std::sqrt(std::max(0.0, eigen.eigenvalues()[0])) - kStretchSlack;
}

}  // namespace

Mat3 DeformationBounds::Gradient(int32_t element, const Seen& at) const {
  const Mat3 f = DeformationGradient(summaries_->elements[element], at.q);
  return at.frame.turned ? Mat3(at.frame.rotation.transpose() * f) : f;
}

void DeformationBounds::Set(int32_t body, const Seen& from, const Seen& to, double slack) {
  const PathBend bend(from.frame, to.frame);
  for (int32_t p = summaries_->body_elements[body].first; p < summaries_->body_elements[body].second; ++p) {
    const Mat3 f = Gradient(p, from), g = Gradient(p, to);
    const double apart = (f - g).norm();
    balls_[p].middle = 0.5 * (f + g);
    balls_[p].radius = kRoundUp * (0.5 * apart + bend.Bulge(std::max(f.norm(), g.norm()), apart)) + slack;
    balls_[p].stretch = SmallestStretch(balls_[p].middle);
  }
}

bool DeformationBounds::Cover(int32_t body, const Seen& from, const Seen& to) const {
  const PathBend bend(from.frame, to.frame);
  for (int32_t p = summaries_->body_elements[body].first; p < summaries_->body_elements[body].second; ++p) {
    const Mat3 f = Gradient(p, from), g = Gradient(p, to);
    const double farthest2 = std::max((f - balls_[p].middle).squaredNorm(), (g - balls_[p].middle).squaredNorm());
    const double size = std::sqrt(std::max(f.squaredNorm(), g.squaredNorm()));
    if (!(std::sqrt(farthest2) + bend.Bulge(size, (f - g).norm()) <= balls_[p].radius)) return false;  // nor where there is a NaN
  }
  return true;
}

double DeformationBounds::PathDistortion(int32_t element, int32_t other) const {
  if (element == other) return 1;
  const std::vector<CageElement::Relative>& relatives = summaries_->elements[element].relatives;
  const auto it = std::lower_bound(relatives.begin(), relatives.end(), other,
                                   [](const CageElement::Relative& r, int32_t p) { return r.element < p; });
  return it != relatives.end() && it->element == other ? it->path_distortion : std::numeric_limits<double>::infinity();
}

Mat3 DeformationBounds::Mean(const NodeSummary& a, const NodeSummary& b) const {
  Mat3 sum = Mat3::Zero();
  for (int i = 0; i < a.count; ++i) sum += balls_[a.elements[i]].middle;
  for (int i = 0; i < b.count; ++i) sum += balls_[b.elements[i]].middle;
  return sum / (a.count + b.count);
}

DeformationBounds::Extent DeformationBounds::ExtentAround(const Mat3& m, const NodeSummary& a, const NodeSummary& b) const {
  Extent out;
  const auto include = [&](const Ball& ball) {
    const double distance = kRoundUp * (ball.middle - m).norm();
    out.distance = std::max(out.distance, distance);
    out.radius = std::max(out.radius, ball.radius);
    out.reach = std::max(out.reach, distance + ball.radius);
  };
  for (int i = 0; i < a.count; ++i) include(balls_[a.elements[i]]);
  for (int i = 0; i < b.count; ++i) include(balls_[b.elements[i]]);
  return out;
}

// See SurfaceSummaries. Pairs between two summaries are counted in the rms_factor and the least gap of either.
bool DeformationBounds::ProveApart(int32_t body, int32_t node, int32_t other) const {
  const std::vector<NodeSummary>& summaries = summaries_->node_summaries[body];
  if (summaries.empty()) return false;
  const NodeSummary &a = summaries[node], &b = summaries[other];
  if (a.count == 0 || b.count == 0) return false;
  const double rms_factor = std::min(a.rms_factor, b.rms_factor), gap = std::max(a.least_gap, b.least_gap);
  if (std::isinf(a.rms_factor) || std::isinf(b.rms_factor)) return false;
  const double needed = kStretchSlack + std::min(kSelfContactShare, dhat_ / gap);
  if (a.count == 1 && b.count == 1 && a.elements[0] == b.elements[0]) {
    const Ball& ball = balls_[a.elements[0]];
    return ball.stretch - ball.radius >= needed;
  }
  double path_distortion = 1;
  for (int k = 0; k < a.count; ++k) {
    for (int l = 0; l < b.count; ++l) path_distortion = std::max(path_distortion, PathDistortion(a.elements[k], b.elements[l]));
  }
  const double factor = path_distortion * (a.straddles || b.straddles ? rms_factor : 1);
  if (std::isinf(factor)) return false;
  // M is the centre of the first ball if that proves enough, else the mean of the centres. The mean is not tried where it cannot
  // prove enough: the balls extend at least half as far from any matrix as from the first centre, and singular values of two
  // matrices differ by no more than the matrices do.
  const Ball& first = balls_[a.elements[0]];
  const Extent from_first = ExtentAround(first.middle, a, b);
  if (first.stretch - from_first.reach * factor >= needed) return true;
  const double least = std::max(0.5 * from_first.reach, from_first.radius);
  if (first.stretch + from_first.distance - least * factor < needed) return false;
  const Mat3 mean = Mean(a, b);
  return SmallestStretch(mean) - ExtentAround(mean, a, b).reach * factor >= needed;
}

}  // namespace eipc
