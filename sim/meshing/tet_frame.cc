#include "sim/meshing/tet_frame.h"

#include <Eigen/LU>

namespace eipc {

TetFrame::TetFrame(const std::array<Vec3, 4>& corners) : corners_(corners) {
  Mat3 edges;
  edges << corners_[1] - corners_[0], corners_[2] - corners_[0], corners_[3] - corners_[0];
  to_barycentric_ = edges.inverse();
}

TetFrame::Vec4 TetFrame::Barycentric(const Vec3& p) const {
  const Vec3 w = to_barycentric_ * (p - corners_[0]);
  return {1 - w.sum(), w[0], w[1], w[2]};
}

bool TetFrame::MiddleInside(const std::vector<Vec3>& polygon, Vec4* middle) const {
  // A triangle cut by four planes has at most seven corners; rounding may turn a cut through a row of points into more.
  std::array<Vec4, 16> kept, next;
  size_t count = 0;
  for (const Vec3& p : polygon) kept[count++] = Barycentric(p);
  for (int side = 0; side < 4; ++side) {
    size_t left = 0;
    for (size_t i = 0; i < count; ++i) {
      const Vec4 &p = kept[i], &q = kept[(i + 1) % count];
      if (p[side] >= 0) next[left++] = p;
      if ((p[side] >= 0) != (q[side] >= 0)) next[left++] = p + p[side] / (p[side] - q[side]) * (q - p);
    }
    count = left;
    std::swap(kept, next);
    if (count == 0) return false;
  }
  middle->setZero();
  for (size_t i = 0; i < count; ++i) *middle += kept[i] / static_cast<double>(count);
  return true;
}

}  // namespace eipc
