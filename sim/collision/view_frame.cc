#include "sim/collision/view_frame.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/material/polar.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

// The rotation R that maximizes tr(R^T h), by the polar decomposition. That of h and its cofactor matrix is the same, and the sum
// of both is regular where the body is flat (h = sum of q p^T then has rank two).
Mat3 NearestRotation(const Mat3& h) {
  const double size = h.norm();
  if (!(size > 0)) return Mat3::Identity();
  const Mat3 unit = h / size;
  Mat3 cofactor;
  for (int i = 0; i < 3; ++i) cofactor.col(i) = unit.col((i + 1) % 3).cross(unit.col((i + 2) % 3));
  const std::optional<Mat3> by_newton = PolarRotationByNewton(unit + cofactor);
  const Mat3 r = by_newton ? *by_newton : PolarRotation(unit);
  return 0.5 * r * (3 * Mat3::Identity() - r.transpose() * r);  // orthogonal to the last bits
}

}  // namespace

ViewFrames::ViewFrames(ViewAxes axes, const SurfaceSummaries* summaries)
    : axes_(axes), summaries_(summaries), bodies_(axes == ViewAxes::kOfBody ? summaries->frame_nodes.size() : 0) {}

ViewFrame ViewFrames::Of(int32_t body, const VecX& q, const Vec3& centroid) {
  if (axes_ == ViewAxes::kOfWorld || summaries_->frame_nodes[body].nodes.empty()) return {centroid};
  return {centroid, Rotation(body, q), true};
}

const Mat3& ViewFrames::Rotation(int32_t body, const VecX& q) {
  const SurfaceSummaries::FrameNodes& frame = summaries_->frame_nodes[body];
  Body& b = bodies_[body];
  std::array<Vec3, kNodes> nodes;
  for (size_t i = 0; i < frame.nodes.size(); ++i) nodes[i] = q.segment<3>(3 * frame.nodes[i]);
  const auto end = nodes.begin() + static_cast<std::ptrdiff_t>(frame.nodes.size());
  for (size_t k = 0; k < b.count; ++k) {
    if (std::equal(nodes.begin(), end, b.known[k].nodes.begin())) return b.known[k].rotation;
  }
  Known& fresh = b.known[b.oldest];
  b.oldest = (b.oldest + 1) % b.known.size();
  b.count = std::min(b.count + 1, b.known.size());
  fresh.nodes = nodes;
  Mat3 h = Mat3::Zero();  // from one of the nodes: rest positions sum to zero, so what the others are relative to does not matter
  for (size_t i = 1; i < frame.nodes.size(); ++i) h += (nodes[i] - nodes[0]) * frame.rest[i].transpose();
  return fresh.rotation = NearestRotation(h);
}

PathBend::PathBend(const ViewFrame& from, const ViewFrame& to) {
  constexpr double kRounding = 1e-14;  // of rotations and of the norm; near half a turn shrink_ magnifies it
  if (!from.turned || !to.turned) return;
  sine_ = std::min(1.0, (to.rotation - from.rotation).norm() / std::sqrt(8.0) + kRounding);
  shrink_ = sine_ * sine_ / (1 + std::sqrt(1 - sine_ * sine_));
}

}  // namespace eipc
