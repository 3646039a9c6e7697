#ifndef EIPC_SIM_MESHING_TRIANGLE_TREE_H_
#define EIPC_SIM_MESHING_TRIANGLE_TREE_H_

#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Distances to a triangle mesh, by a tree of boxes. Floating point: good for shaping a cage, not for proving anything about it.
class TriangleTree {
 public:
  TriangleTree(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles);

  // The point of the mesh closest to `p`.
  Vec3 Closest(const Vec3& p) const;
  // Distance, negative inside (odd number of crossings along a fixed skew ray); the mesh must be closed.
  double SignedDistance(const Vec3& p) const;

 private:
  struct Corners {
    Vec3 a, b, c;
  };
  struct Node {
    Vec3 low, high;
    int32_t begin, end;
    int32_t left = -1, right = -1;
  };
  int32_t Build(int32_t begin, int32_t end);
  bool OddCrossings(const Vec3& p) const;

  std::vector<Corners> triangles_;
  std::vector<Node> nodes_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_TRIANGLE_TREE_H_
