#include "sim/collision/swept_boxes.h"

#include <limits>
#include <tuple>
#include <utility>

#include "sim/collision/region_bounds.h"

namespace eipc {

SweptBoxes::SweptBoxes(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
                       const std::vector<Vec3>* offsets)
    : surface_(surface), summaries_(summaries), rows_(rows), offsets_(offsets) {
  vertex_stamps_ = FillStamps(surface->vertex_count);
  vertex_boxes_.resize(surface->vertex_count);
  from_.resize(surface->vertex_count);
  to_.resize(surface->vertex_count);
  for (const BoundingVolumeTree& tree : surface->trees) {
    node_stamps_.emplace_back(tree.nodes().size());
    node_boxes_.emplace_back(tree.nodes().size());
  }
}

void SweptBoxes::Begin(const VecX& from, const VecX& to, double distance) {
  ++stamp_;
  distance_ = distance;
  q_from_ = &from;
  q_to_ = &to;
}

// Weights w sum to one, |w| to S or less: a vertex is no farther outside the box of its nodes than (S - 1) / 2 of its size.
SweptBox SweptBoxes::Body(int32_t body) {
  if (summaries_->body_nodes[body].empty()) return Node(body, 0);
  SweptBox out;
  for (const auto& [q, box] : {std::pair(q_from_, &out.from), std::pair(q_to_, &out.to)}) {
    Eigen::Array3d lo = Eigen::Array3d::Constant(std::numeric_limits<double>::infinity()), hi = -lo;
    for (const int32_t n : summaries_->body_nodes[body]) {
      lo = lo.min(q->segment<3>(3 * n).array());
      hi = hi.max(q->segment<3>(3 * n).array());
    }
    const double size = lo.abs().max(hi.abs()).maxCoeff() * summaries_->largest_weight_sum + distance_;
    const Eigen::Array3d grown = 0.5 * (summaries_->largest_weight_sum - 1) * (hi - lo) + 0.5 * distance_ + 10 * kSlack * size;
    *box = WideBox(lo - grown, hi + grown);
  }
  return out;
}

const SweptBox& SweptBoxes::MakeVertex(int32_t v) {
  SweptBox& boxes = vertex_boxes_[v];
  if (!vertex_stamps_.Claim(v, stamp_)) return boxes;
  const EmbeddingRow& row = (*rows_)[v];
  for (const auto& [q, x, box] : {std::tuple(q_from_, &from_[v], &boxes.from), std::tuple(q_to_, &to_[v], &boxes.to)}) {
    *x = row.count == 0 ? (*offsets_)[v] : Vec3::Zero();
    for (int k = 0; k < row.count; ++k) *x += row.weights[k] * q->segment<3>(3 * row.nodes[k]);
    const double grown = 0.5 * distance_ + kSlack * (x->cwiseAbs().maxCoeff() + distance_);
    *box = WideBox(x->array() - grown, x->array() + grown);
  }
  vertex_stamps_.Fill(v, stamp_);
  return boxes;
}

SweptBox SweptBoxes::Edge(int32_t e) {
  SweptBox boxes = Vertex(surface_->edges[e][0]);
  boxes.Include(Vertex(surface_->edges[e][1]));
  return boxes;
}

SweptBox SweptBoxes::Triangle(int32_t t) {
  SweptBox boxes = Vertex(surface_->triangles[t][0]);
  boxes.Include(Vertex(surface_->triangles[t][1]));
  boxes.Include(Vertex(surface_->triangles[t][2]));
  return boxes;
}

SweptBox SweptBoxes::SummaryBox(const NodeSummary& summary) const {
  SweptBox out;
  for (int k = 0; k < summary.count; ++k) {
    const CageElement& element = summaries_->elements[summary.elements[k]];
    const SurfaceSummaries::RestBox& rest = summaries_->boxes[summary.first_box + k];
    for (const auto& [q, box] : {std::pair(q_from_, &out.from), std::pair(q_to_, &out.to)}) {
      const Mat3 f = DeformationGradient(element, *q);
      const Vec3 corner = q->segment<3>(3 * element.nodes[0]);
      const Vec3 center = corner + f * (rest.center - element.origin);
      const Eigen::Array3d half = (f.cwiseAbs() * rest.half).array();
      const double size = center.cwiseAbs().maxCoeff() + corner.cwiseAbs().maxCoeff() + half.maxCoeff() + distance_;
      const Eigen::Array3d grown = half + (0.5 * distance_ + 10 * kSlack * size);
      box->Include(WideBox(center.array() - grown, center.array() + grown));
    }
  }
  return out;
}

const SweptBox& SweptBoxes::MakeNode(int32_t body, int32_t node) {
  SweptBox& boxes = node_boxes_[body][node];
  if (!node_stamps_[body].Claim(node, stamp_)) return boxes;
  const BoundingVolumeTree& tree = surface_->trees[body];
  const BoundingVolumeTree::Node& n = tree.nodes()[node];
  const std::vector<NodeSummary>& summaries = summaries_->node_summaries[body];
  boxes = {};
  if (!summaries.empty() && summaries[node].first_box >= 0) {
    boxes = SummaryBox(summaries[node]);
  } else if (n.leaf()) {
    for (int32_t k = n.begin; k < n.end; ++k) boxes.Include(Triangle(tree.primitives()[k]));
  } else {
    boxes.Include(Node(body, n.left));
    boxes.Include(Node(body, n.right));
  }
  node_stamps_[body].Fill(node, stamp_);
  return boxes;
}

}  // namespace eipc
