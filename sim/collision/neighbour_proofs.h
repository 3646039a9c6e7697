#ifndef EIPC_SIM_COLLISION_NEIGHBOUR_PROOFS_H_
#define EIPC_SIM_COLLISION_NEIGHBOUR_PROOFS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/quad.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/neighbour_pairs.h"
#include "sim/collision/surface_summaries.h"

namespace eipc {

// Proves that neighbouring triangles of a body (SurfaceSummaries::neighbours) are not in contact, and lists those without a proof.
// Neighbouring triangles are many and always near each other, but only a sharp fold of the surface brings them into contact.
//
// The proof is in docs/concepts/collision_detection.md, "Neighbouring triangles": a plane separates the pair in some shape X of the
// body, its features are a clearance C beyond their reach there, and the displacements from X use up less than C.
//
// X is the rest shape, and a later one when too little can be said of it. So the cost of a proof is four differences, and seldom
// the distances of all features.
class NeighbourProofs {
 public:
  NeighbourProofs(const CollisionSurface* surface, const SurfaceSummaries* summaries, double dhat);

  // The pairs of a body, ascending.
  const std::vector<int32_t>& vertices(int32_t body) const { return bodies_[body].vertices; }

  // Indices in summaries->neighbours[body] of the pairs that may come within their dhat while no vertex is farther than `reach`
  // from `points` (by vertex, seen from any frame; m), in order.
  void FindUnproven(int32_t body, const std::vector<Vec3>& points, const std::vector<double>& reach, std::vector<int32_t>* out);

 private:
  struct Body {
    std::vector<int32_t> vertices;  // of its pairs, ascending
    std::vector<double> clearance;  // C by pair, m; 0: nothing is known
    size_t left = 0;                // pairs that were unproven right after the last change of X
  };

  void Collect(int32_t body, const std::vector<Vec3>& points, const std::vector<double>& reach, std::vector<int32_t>* out);
  void Reshape(int32_t body, const std::vector<Vec3>& points);
  // C of a pair in the shape X, m.
  double Clearance(const NeighbourPair& pair) const;

  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  double dhat_ = 0;
  std::vector<Body> bodies_;
  // By vertex, m.
  std::vector<Vec3> shapes_;  // X
  std::vector<Quad> moves_;   // from X to Y
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_NEIGHBOUR_PROOFS_H_
