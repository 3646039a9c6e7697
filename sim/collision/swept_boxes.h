#ifndef EIPC_SIM_COLLISION_SWEPT_BOXES_H_
#define EIPC_SIM_COLLISION_SWEPT_BOXES_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/fill_stamps.h"
#include "sim/collision/surface_summaries.h"
#include "sim/geometry/wide_box.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// Boxes at both ends of a straight motion. The lower side of a box around points that move straight is a concave function of time,
// the upper side a convex one; so two boxes that are apart by some length along an axis at both ends are apart by as much along it
// all the time.
struct SweptBox {
  WideBox from;
  WideBox to;
  void Include(const SweptBox& other) {
    from.Include(other.from);
    to.Include(other.to);
  }
  bool Meets(const SweptBox& other) const { return from.MeetsAlong(other.from, to, other.to); }
};

// The boxes of what the surface has, grown by half of a distance and by the rounding of x = J q, for one straight motion of the
// nodes. Each is computed when it is first asked for; several threads may ask at a time.
class SweptBoxes {
 public:
  SweptBoxes(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
             const std::vector<Vec3>* offsets);

  // The motion, whose ends outlive its use.
  void Begin(const VecX& from, const VecX& to, double distance);
  const SweptBox& Vertex(int32_t v) { return vertex_stamps_.Has(v, stamp_) ? vertex_boxes_[v] : MakeVertex(v); }
  SweptBox Edge(int32_t e);
  SweptBox Triangle(int32_t t);
  const SweptBox& Node(int32_t body, int32_t node) {
    return node_stamps_[body].Has(node, stamp_) ? node_boxes_[body][node] : MakeNode(body, node);
  }
  // Around all of a body, from its nodes alone.
  SweptBox Body(int32_t body);
  // Of vertices whose box was asked for, m.
  const std::vector<Vec3>& from() const { return from_; }
  const std::vector<Vec3>& to() const { return to_; }

 private:
  const SweptBox& MakeVertex(int32_t v);
  const SweptBox& MakeNode(int32_t body, int32_t node);
  SweptBox SummaryBox(const NodeSummary& summary) const;

  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  const std::vector<EmbeddingRow>* rows_;
  const std::vector<Vec3>* offsets_;
  double distance_ = 0;
  const VecX* q_from_ = nullptr;
  const VecX* q_to_ = nullptr;
  uint64_t stamp_ = 0;  // of the motion; boxes are valid where theirs is the same
  FillStamps vertex_stamps_;
  std::vector<FillStamps> node_stamps_;
  std::vector<Vec3> from_, to_;  // by vertex
  std::vector<SweptBox> vertex_boxes_;
  std::vector<std::vector<SweptBox>> node_boxes_;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_SWEPT_BOXES_H_
