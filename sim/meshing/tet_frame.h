#ifndef EIPC_SIM_MESHING_TET_FRAME_H_
#define EIPC_SIM_MESHING_TET_FRAME_H_

#include <array>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// A tet's barycentric coordinates, and what of a polygon lies in it. Floating point.
class TetFrame {
 public:
  using Vec4 = Eigen::Vector4d;
  explicit TetFrame(const std::array<Vec3, 4>& corners);

  const std::array<Vec3, 4>& corners() const { return corners_; }
  Vec4 Barycentric(const Vec3& p) const;
  bool Contains(const Vec3& p) const { return Barycentric(p).minCoeff() >= 0; }
  // The mean corner of the part of a convex polygon (a triangle, a segment) that lies in the tet, in barycentric coordinates; false
  // when nothing does.
  bool MiddleInside(const std::vector<Vec3>& polygon, Vec4* middle) const;
  Vec3 Point(const Vec4& w) const { return w[0] * corners_[0] + w[1] * corners_[1] + w[2] * corners_[2] + w[3] * corners_[3]; }

 private:
  std::array<Vec3, 4> corners_;
  Mat3 to_barycentric_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_TET_FRAME_H_
