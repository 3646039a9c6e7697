#include "sim/meshing/solid_in_tets.h"

#include <algorithm>
#include <array>

#include "sim/meshing/tet_frame.h"

namespace eipc {

std::vector<double> SolidDepths(const MeshData& cage, const SurfaceMesh& surface, const TriangleTree& tree, double enough) {
  const std::vector<Vec3>& x = surface.vertices();
  std::vector<double> depths;
  depths.reserve(cage.tets.size());
  for (const Tet& t : cage.tets) {
    const TetFrame tet({cage.vertices[t[0]], cage.vertices[t[1]], cage.vertices[t[2]], cage.vertices[t[3]]});
    const std::array<Vec3, 4>& c = tet.corners();
    const Vec3 low = c[0].cwiseMin(c[1]).cwiseMin(c[2]).cwiseMin(c[3]), high = c[0].cwiseMax(c[1]).cwiseMax(c[2]).cwiseMax(c[3]);
    double depth = 0;
    bool entered = false;
    tree.AnyInBox(low, high, [&](int32_t s) {
      const Triangle& f = surface.triangles()[s];
      TetFrame::Vec4 middle;
      if (!tet.MiddleInside({x[f[0]], x[f[1]], x[f[2]]}, &middle)) return false;
      entered = true;
      depth = std::max(depth, middle.minCoeff());
      return depth >= enough;
    });
    const TetFrame::Vec4 center = TetFrame::Vec4::Constant(0.25);
    if (!entered && tree.Contains(tet.Point(center))) depth = 0.25;
    depths.push_back(depth);
  }
  return depths;
}

}  // namespace eipc
