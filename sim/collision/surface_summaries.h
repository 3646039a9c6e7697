#ifndef EIPC_SIM_COLLISION_SURFACE_SUMMARIES_H_
#define EIPC_SIM_COLLISION_SURFACE_SUMMARIES_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/types.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/neighbour_pairs.h"
#include "sim/collision/pair_dhat.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// Vertices that one simplex of four nodes carries: x = F X + c with one F for all of them.
struct CageElement {
  std::array<int32_t, 4> nodes;
  Vec3 origin;        // rest position of nodes[0], m
  Mat3 inverse_rest;  // of the edges from nodes[0], 1/m: F = [q1 - q0, q2 - q0, q3 - q0] inverse_rest
  int32_t body = 0;
  // Others that have nodes in common with it, by index.
  struct Relative {
    int32_t element;
    double path_distortion;
  };
  std::vector<Relative> relatives;
};

inline Mat3 DeformationGradient(const CageElement& element, const VecX& q) {
  const Vec3 q0 = q.segment<3>(3 * element.nodes[0]);
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = q.segment<3>(3 * element.nodes[k + 1]) - q0;
  return edges * element.inverse_rest;
}

// The elements behind the vertices of a node of a body's bounding volume tree, with what their rest shape says once and for all.
struct NodeSummary {
  static constexpr int kMaxElements = 4;
  int32_t count = 0;  // of elements; 0: too many, or vertices without one
  std::array<int32_t, kMaxElements> elements;
  // Rest boxes of the vertices that belong to each element, in SurfaceSummaries::boxes; -1: few triangles, whose own boxes are
  // tighter.
  int32_t first_box = -1;
  // See SurfaceSummaries. `rms_factor` is infinite where nothing can be said.
  double rms_factor = 1;
  double least_gap = 0;    // m
  bool straddles = false;  // a triangle has vertices in two elements
};

// What the nodes of bodies' bounding-volume trees contain, by cage elements: it lets collision detection leave out whole parts of a
// surface that is much finer than the cage that moves it, without an examination of their triangles. Two points of one body keep
// |x(P) - x(Q)| >= (s_min(M) - D path_distortion rms_factor) |P - Q| for any matrix M, D = max |F - M| over their elements; the
// derivation is in docs/concepts/collision_detection.md, "Parts of one body that cannot touch".
struct SurfaceSummaries {
  struct RestBox {
    Vec3 center;
    Vec3 half;
  };
  std::vector<CageElement> elements;                       // by body
  std::vector<std::pair<int32_t, int32_t>> body_elements;  // first and end, by body
  std::vector<std::vector<NodeSummary>> node_summaries;    // by body and tree node; empty for bodies of which nothing is known
  std::vector<RestBox> boxes;
  std::vector<int32_t> nodes;                    // that move some vertex of the surface, ascending
  std::vector<std::vector<int32_t>> body_nodes;  // the same, by body
  // By body: some of its nodes, spread over it, with their rest positions relative to the mean of them, m. How they are turned is
  // how the body is (ViewFrames). None of sheets: what folds does not turn as a whole.
  struct FrameNodes {
    static constexpr size_t kMost = 16;
    std::vector<int32_t> nodes;
    std::vector<Vec3> rest;
  };
  std::vector<FrameNodes> frame_nodes;
  std::vector<uint8_t> fixed;       // by body: nothing moves it
  std::vector<double> edge_length;  // by body: mean at rest, m
  std::vector<uint8_t> proves;      // by body: proofs about self-contact are worth their cost
  // By body: triangles with common vertices, where they are not left to those proofs; see NeighbourProofs.
  std::vector<std::vector<NeighbourPair>> neighbours;
  double largest_weight_sum = 1;  // of |weights| of a vertex

  // `rows` by vertex of the surface, `rest` positions by node, m.
  static SurfaceSummaries Create(const CollisionSurface& surface, const std::vector<EmbeddingRow>& rows,
                                 const std::vector<Vec3>& rest);
};

// The mean of the nodes that move a body's surface, m; the origin for a body that nothing moves.
inline Vec3 NodeCentroid(const SurfaceSummaries& summaries, int32_t body, const VecX& q) {
  const std::vector<int32_t>& nodes = summaries.body_nodes[body];
  Vec3 sum = Vec3::Zero();
  for (int32_t n : nodes) sum += q.segment<3>(3 * n);
  return nodes.empty() ? sum : Vec3(sum / static_cast<double>(nodes.size()));
}

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_SURFACE_SUMMARIES_H_
