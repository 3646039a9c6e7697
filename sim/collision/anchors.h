#ifndef EIPC_SIM_COLLISION_ANCHORS_H_
#define EIPC_SIM_COLLISION_ANCHORS_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/seen_state.h"
#include "sim/collision/surface_summaries.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// Positions, seen from frames of the bodies, at which the distances of pairs were bounded last, and bounds of how far things are
// from there, rounded up. A vertex is an affine combination of nodes, so it is no farther from its anchor than the farthest of
// them times the sum of its weights' sizes.
class Anchors {
 public:
  Anchors(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
          const std::vector<Vec3>* offsets);

  // Anchors a body where its nodes are seen. Its vertices follow where UpdateVertex asks for them.
  void Set(int32_t body, const SeenState& seen);
  void UpdateVertex(int32_t v);
  // Counts the anchors of a body; 0: none yet.
  uint64_t stamp(int32_t body) const { return bodies_[body].stamp; }
  // No coordinate of the body's anchors is larger, m.
  double extent(int32_t body) const { return bodies_[body].extent; }
  const Vec3& operator[](int32_t v) const { return vertices_[v]; }

  // Largest component by which a node of the body is from its anchor, m.
  double LargestComponent(int32_t body, const SeenState& seen) const;
  // No vertex of the body is farther from its anchor than `most`, or from the origin of the frame than `radius`, m.
  struct Displacement {
    double most = 0;
    double radius = 0;
  };
  Displacement OfBody(int32_t body, const SeenState& seen) const;
  // The displacement of a vertex that is seen at p, m, and a bound of its length; `slack` is that of its body.
  double OfVertex(int32_t v, const Quad& p, double slack, Vec3* displacement) const;
  // Bounds the rounding of such displacements, where no vertex is farther than `radius` m from the origin of the frame.
  double Slack(int32_t body, const ViewFrame& frame, double radius) const;

 private:
  struct Body {
    uint64_t stamp = 0;
    double extent = 0;
    double static_extent = 0;  // largest coordinate of a vertex that no node moves, m
  };
  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  const std::vector<EmbeddingRow>* rows_;
  const std::vector<Vec3>* offsets_;
  std::vector<Body> bodies_;
  std::vector<Quad> nodes_;             // m
  std::vector<Vec3> vertices_;          // m
  std::vector<uint64_t> vertex_stamp_;  // the body's anchors that a vertex is of
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_ANCHORS_H_
