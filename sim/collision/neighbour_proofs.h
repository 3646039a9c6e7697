#ifndef EIPC_SIM_COLLISION_NEIGHBOUR_PROOFS_H_
#define EIPC_SIM_COLLISION_NEIGHBOUR_PROOFS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/quad.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/neighbour_pairs.h"
#include "sim/collision/surface_patches.h"

namespace eipc {

// Which neighbouring triangles of a body (SurfacePatches::neighbours) might touch each other. They are many and always near, but
// hardly ever do: what keeps them apart is that the surface does not fold sharply.
//
// Let a plane separate a pair in some shape X of the body (SeparatedByPlane), and its features without a common vertex be at least
// their own dhat and a clearance C apart there. Let no vertex of the pair be moved by more than D from there to a shape Y, as seen
// from a vertex that both triangles have. Points of features are convex combinations of vertices, so in Y they are C - 2 D clear of
// their dhat, and stay clear while no vertex travels further than C / 2 - D from there: nothing of the pair is in contact. Nor do
// the two triangles meet beyond what they share. They did not in X; on a straight way from there all this holds as well; and where
// they began to meet, the edge opposite to a shared vertex would begin to meet the other triangle, two features without a common
// vertex at no distance.
//
// X is the rest shape, and a later one when too little can be said of it. So the cost of a proof is four differences, and seldom
// the distances of all features.
class NeighbourProofs {
 public:
  NeighbourProofs(const CollisionSurface* surface, const SurfacePatches* patches, double dhat);

  // Of the pairs of a body, ascending.
  const std::vector<int32_t>& vertices(int32_t body) const { return bodies_[body].vertices; }

  // Indices in patches->neighbours[body] of the pairs that may come within their dhat while no vertex is farther than `reach` from
  // `points` (by vertex, seen from anywhere that does not turn; m), in order.
  void FindUnproven(int32_t body, const std::vector<Vec3>& points, const std::vector<double>& reach, std::vector<int32_t>* out);

 private:
  struct Body {
    std::vector<int32_t> vertices;  // of its pairs, ascending
    std::vector<double> clearance;  // C by pair, m; 0: nothing is known
    size_t left = 0;                // pairs that were unproven right after the last change of X
  };

  void Collect(int32_t body, const std::vector<Vec3>& points, const std::vector<double>& reach, std::vector<int32_t>* out);
  void Reshape(int32_t body, const std::vector<Vec3>& points);

  const CollisionSurface* surface_;
  const SurfacePatches* patches_;
  double dhat_ = 0;
  std::vector<Body> bodies_;
  // By vertex, m.
  std::vector<Vec3> shapes_;  // X
  std::vector<Quad> moves_;   // from X to Y
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_NEIGHBOUR_PROOFS_H_
