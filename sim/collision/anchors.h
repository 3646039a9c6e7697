#ifndef EIPC_SIM_COLLISION_ANCHORS_H_
#define EIPC_SIM_COLLISION_ANCHORS_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/surface_summaries.h"
#include "sim/collision/view_frame.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// Positions, seen from frames of the bodies, at which the distances of pairs were bounded last, and bounds of how far things are
// from there, rounded up. A vertex is an affine combination of nodes, so it is no farther from its anchor than the farthest of
// them times the sum of its weights' sizes.
class Anchors {
 public:
  Anchors(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
          const std::vector<Vec3>* offsets);

  // Anchors a body at q. Its vertices follow where UpdateVertex asks for them.
  void Set(int32_t body, const VecX& q, const ViewFrame& frame);
  // The same where its nodes are seen at `p` (3 a node, m).
  void Set(int32_t body, const VecX& p);
  void UpdateVertex(int32_t v);
  // Counts the anchors of a body; 0: none yet.
  uint64_t stamp(int32_t body) const { return bodies_[body].stamp; }
  // Largest coordinate of the body's anchors, m.
  double extent(int32_t body) const { return bodies_[body].extent; }
  const Vec3& operator[](int32_t v) const { return vertices_[v]; }

  // Largest component by which a node of the body at q is from its anchor, m.
  double LargestComponent(int32_t body, const VecX& q, const ViewFrame& frame) const;
  // No vertex of the body at q is farther from its anchor than `most`, or from the origin of the frame than `radius`, m.
  struct Displacement {
    double most = 0;
    double radius = 0;
  };
  Displacement OfBody(int32_t body, const VecX& q, const ViewFrame& frame) const;
  // The displacement of a vertex at x, m, and a bound of its length.
  double OfVertex(int32_t v, const Vec3& x, const ViewFrame& frame, Vec3* displacement) const;
  // Bounds the rounding of such displacements, where no vertex is farther than `radius` m from the origin of the frame.
  double Slack(int32_t body, const ViewFrame& frame, double radius) const;

 private:
  void Renew(int32_t body);

  struct Body {
    uint64_t stamp = 0;
    double extent = 0;
  };
  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  const std::vector<EmbeddingRow>* rows_;
  const std::vector<Vec3>* offsets_;
  std::vector<Body> bodies_;
  VecX q_;                              // of nodes, m
  std::vector<Vec3> vertices_;          // m
  std::vector<uint64_t> vertex_stamp_;  // the body's anchors that a vertex is of
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_ANCHORS_H_
