#ifndef EIPC_SIM_COLLISION_REGION_BOXES_H_
#define EIPC_SIM_COLLISION_REGION_BOXES_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/fill_stamps.h"
#include "sim/collision/seen_state.h"
#include "sim/collision/surface_summaries.h"
#include "sim/geometry/wide_box.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// Regions that the nodes of bodies stay in, seen from a frame of their body, and boxes of what vertices, edges, triangles
// and tree nodes of the surface can then reach, grown by dhat / 2 and the rounding of x = J q. A box is computed when it is first
// asked for after the regions of its body were renewed; those of large summaries follow from the few nodes that carry them. So the
// cost follows what is near, not how finely a surface is triangulated. Several threads may ask for boxes at a time, while no region
// changes.
class RegionBoxes {
 public:
  RegionBoxes(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
              const std::vector<Vec3>* offsets, double dhat);

  // The region of a body: its nodes are within `grown` m, along each axis, of where they would be at one time, the same for all of
  // them, on a straight path from the first of their ends to the last. After SetPath for all of them, Renew.
  void SetPath(int32_t node, const Quad& from, const Quad& to) { paths_[node] = Path{from, to - from, Quad{}}; }
  void Renew(int32_t body, double grown);
  // Counts the renewals of a body; 0: it has no region yet.
  uint64_t stamp(int32_t body) const { return stamps_[body]; }
  // Whether the body's nodes, as they are seen, are inside the region, and no nearer to its sides than `bulge` m.
  bool Contain(int32_t body, const SeenState& seen, double bulge = 0) const;
  // The largest width of what a node of the body may reach, m.
  double Width(int32_t body) const;

  const WideBox& Vertex(int32_t v) {
    return vertex_stamps_.Has(v, stamps_[surface_->vertex_body[v]]) ? vertex_boxes_[v] : MakeVertex(v);
  }
  const WideBox& Edge(int32_t e) { return edge_stamps_.Has(e, stamps_[surface_->edge_body[e]]) ? edge_boxes_[e] : MakeEdge(e); }
  const WideBox& Triangle(int32_t t) {
    return triangle_stamps_.Has(t, stamps_[surface_->triangle_body[t]]) ? triangle_boxes_[t] : MakeTriangle(t);
  }
  const WideBox& Node(int32_t body, int32_t node) {
    return node_stamps_[body].Has(node, stamps_[body]) ? node_boxes_[body][node] : MakeNode(body, node);
  }
  // Of vertices whose box was asked for: where the path of the vertex ends, m, and how far its region extends from there, m.
  const std::vector<Vec3>& points() const { return points_; }
  const std::vector<double>& radii() const { return radii_; }

 private:
  const WideBox& MakeVertex(int32_t v);
  const WideBox& MakeEdge(int32_t e);
  const WideBox& MakeTriangle(int32_t t);
  const WideBox& MakeNode(int32_t body, int32_t node);
  WideBox SummaryBox(int32_t body, const NodeSummary& summary) const;

  const CollisionSurface* surface_;
  const SurfaceSummaries* summaries_;
  const std::vector<EmbeddingRow>* rows_;
  const std::vector<Vec3>* offsets_;
  double dhat_;
  std::vector<uint64_t> stamps_;  // by body
  struct Path {
    Quad from, way;
    Quad inverse;  // of the way along each axis, per m; 0 where that is next to nothing
  };
  std::vector<Path> paths_;  // of nodes
  struct Reach {
    double held = 0;   // by which Contain lets nodes be off the path, m
    double grown = 0;  // the same with what rounding hides from it, m
  };
  std::vector<Reach> reaches_;  // by body
  // Valid where the stamp is that of the body.
  FillStamps vertex_stamps_, edge_stamps_, triangle_stamps_;
  std::vector<FillStamps> node_stamps_;
  std::vector<Vec3> points_;
  std::vector<double> radii_;
  std::vector<WideBox> vertex_boxes_, edge_boxes_, triangle_boxes_;
  std::vector<std::vector<WideBox>> node_boxes_;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_REGION_BOXES_H_
