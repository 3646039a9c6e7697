#ifndef EIPC_SIM_MESHING_TRIANGLE_TREE_H_
#define EIPC_SIM_MESHING_TRIANGLE_TREE_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Distances to a triangle mesh, by a tree of boxes. Floating point: good for shaping a cage, not for proving anything about it.
class TriangleTree {
 public:
  TriangleTree(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles);

  // The point of the mesh closest to `p`. `within`: an upper bound of the distance, which prunes the search.
  Vec3 Closest(const Vec3& p, double within = std::numeric_limits<double>::infinity()) const;
  // Distance, negative inside (odd number of crossings along a fixed skew ray); the mesh must be closed.
  double SignedDistance(const Vec3& p, double within = std::numeric_limits<double>::infinity()) const;
  // Whether p lies inside the closed mesh: the sign of SignedDistance, cheaper.
  bool Contains(const Vec3& p) const { return !nodes_.empty() && OddCrossings(p); }
  // Where a ray first meets the mesh beyond `from` times its direction's length; a negative triangle when it does not.
  struct Hit {
    int32_t triangle = -1;
    double at = 0;  // in lengths of the direction
  };
  Hit FirstHit(const Vec3& p, const Vec3& direction, double from) const;

  // Calls visit(id) for every triangle whose box meets the box low..high (no triangle that meets it is missed), until it says true.
  // Whether it did.
  template <typename Visit>
  bool AnyInBox(const Vec3& low, const Vec3& high, const Visit& visit) const {
    return Any([&](const Vec3& l, const Vec3& h) { return Meet(low, high, l, h); }, visit);
  }
  // The same for the boxes that triangle abc may meet: those that lie on one side of its plane are left out too, by more than
  // rounding can be wrong.
  template <typename Visit>
  bool AnyNearTriangle(const Vec3& a, const Vec3& b, const Vec3& c, const Visit& visit) const {
    const Vec3 low = a.cwiseMin(b).cwiseMin(c), high = a.cwiseMax(b).cwiseMax(c), normal = (b - a).cross(c - a);
    const double size = (b - a).norm() + (c - a).norm();
    return Any(
        [&](const Vec3& l, const Vec3& h) {
          if (!Meet(low, high, l, h)) return false;
          const Vec3 to_middle = (l + h) / 2 - a, half = (h - l) / 2;
          const double reach = size + to_middle.norm() + half.norm();
          const double error = kRounding * (reach + a.cwiseAbs().maxCoeff()) * reach * reach;
          return std::abs(normal.dot(to_middle)) <= normal.cwiseAbs().dot(half) + error;
        },
        visit);
  }

 private:
  struct Corners {
    Vec3 a, b, c;
    int32_t id;
  };
  struct Node {
    Vec3 low, high;
    int32_t begin, end;
    int32_t left = -1, right = -1;
  };
  static constexpr int kMaxDepth = 64;  // the tree is balanced
  // Far above what a few operations on doubles lose.
  static constexpr double kRounding = 1e-13;
  static bool Meet(const Vec3& low, const Vec3& high, const Vec3& l, const Vec3& h) {
    return (low.array() <= h.array()).all() && (l.array() <= high.array()).all();
  }
  template <typename Reach, typename Visit>
  bool Any(const Reach& reach, const Visit& visit) const {
    std::array<int32_t, kMaxDepth> stack;
    int count = 0;
    if (!nodes_.empty()) stack[count++] = 0;
    while (count > 0) {
      const Node& node = nodes_[stack[--count]];
      if (!reach(node.low, node.high)) continue;
      if (node.left >= 0) {
        stack[count++] = node.left;
        stack[count++] = node.right;
        continue;
      }
      for (int32_t i = node.begin; i < node.end; ++i) {
        const Corners& t = triangles_[i];
        if (reach(t.a.cwiseMin(t.b).cwiseMin(t.c), t.a.cwiseMax(t.b).cwiseMax(t.c)) && visit(t.id)) return true;
      }
    }
    return false;
  }
  int32_t Build(int32_t begin, int32_t end);
  bool OddCrossings(const Vec3& p) const;

  std::vector<Corners> triangles_;
  std::vector<Node> nodes_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_TRIANGLE_TREE_H_
