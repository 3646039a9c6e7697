#ifndef EIPC_SIM_COLLISION_SURFACE_PATCHES_H_
#define EIPC_SIM_COLLISION_SURFACE_PATCHES_H_

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
struct SurfacePiece {
  std::array<int32_t, 4> nodes;
  Vec3 origin;        // rest position of nodes[0], m
  Mat3 inverse_rest;  // of the edges from nodes[0], 1/m: F = [q1 - q0, q2 - q0, q3 - q0] inverse_rest
  int32_t body = 0;
  // Others that have nodes in common with it, by index.
  struct Relative {
    int32_t piece;
    double detour;
  };
  std::vector<Relative> relatives;
};

inline Mat3 DeformationGradient(const SurfacePiece& piece, const VecX& q) {
  const Vec3 q0 = q.segment<3>(3 * piece.nodes[0]);
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = q.segment<3>(3 * piece.nodes[k + 1]) - q0;
  return edges * piece.inverse_rest;
}

// The pieces behind the vertices of a node of a body's bounding volume tree, with what their rest shape says once and for all.
struct SurfacePatch {
  static constexpr int kMaxPieces = 4;
  int32_t count = 0;  // of pieces; 0: too many, or vertices without one
  std::array<int32_t, kMaxPieces> pieces;
  // Rest boxes of the vertices that belong to each piece, in SurfacePatches::boxes; -1: few triangles, whose own boxes are tighter.
  int32_t first_box = -1;
  // See SurfacePatches. `spread` is infinite where nothing can be said.
  double spread = 1;
  double least_gap = 0;    // m
  bool straddles = false;  // a triangle has vertices in two pieces
};

// A surface in patches that move together: what lets collision detection leave out whole parts of a surface that is much finer than
// the cage that moves it, without a look at their triangles.
//
// Two pieces with nodes in common agree on the plane, line or point that these span. Let X be in one and Y in the other. By way of
// a point of what they share it is farther from X to Y than straight, by a factor that the rest shape bounds: the detour, 1 for a
// shared face, whose plane lies between them, and 1 / sin(a / 2) for an edge or a node at which they are an angle a apart. Hence,
// for any matrix M,
//     |x(X) - x(Y) - M (X - Y)| <= D detour |X - Y|,   D = max |F - M| of the two.
// Let two features of one body (a point and a triangle, or two edges, without a common vertex; or two triangles) lie d apart at
// rest, their triangles having longest edges L_a and L_b. Their points are convex combinations of vertices, P = sum_i l_i X_i and
// Q = sum_j m_j Y_j, and so is the difference: with D and detour the largest of all pieces that are involved,
//     |x(P) - x(Q) - M (P - Q)| <= D detour sum_ij l_i m_j |X_i - Y_j| <= D detour sqrt(sum_ij l_i m_j |X_i - Y_j|^2),
// and the mean square is |P - Q|^2 + V_a + V_b, V the variances sum_i l_i |X_i - P|^2 <= L^2 / 3: of sides that straddle pieces,
// for the others are points of one piece themselves. Hence
//     |x(P) - x(Q)| >= (s_min(M) - D detour spread) |P - Q|,   spread^2 = 1 + (L_a^2 + L_b^2) / (3 d^2),
// s_min the smallest singular value, and L = 0 where a triangle does not straddle pieces. While this factor exceeds what
// self-contact allows (kSelfContactShare, or dhat over the least gap), nothing here is in contact, and no two triangles meet: two
// triangles that share a vertex meet elsewhere only if the edge opposite to it meets the other triangle, those that share an edge
// only if features without a common vertex do (all of these are among the pairs that `spread` is taken over).
struct SurfacePatches {
  struct RestBox {
    Vec3 center;
    Vec3 half;
  };
  std::vector<SurfacePiece> pieces;                      // by body
  std::vector<std::pair<int32_t, int32_t>> body_pieces;  // first and end, by body
  std::vector<std::vector<SurfacePatch>> patches;        // by body and tree node; empty for bodies of which nothing is known
  std::vector<RestBox> boxes;
  std::vector<int32_t> nodes;                    // that move some vertex of the surface, ascending
  std::vector<std::vector<int32_t>> body_nodes;  // the same, by body
  std::vector<uint8_t> fixed;                    // by body: nothing moves it
  std::vector<double> edge_length;               // by body: mean at rest, m
  std::vector<uint8_t> proves;                   // by body: proofs about self-contact are worth their cost
  // By body: triangles with common vertices, where they are not left to those proofs; see NeighbourProofs.
  std::vector<std::vector<NeighbourPair>> neighbours;
  double largest_weight_sum = 1;  // of |weights| of a vertex

  // `rows` by vertex of the surface, `rest` positions by node, m.
  static SurfacePatches Create(const CollisionSurface& surface, const std::vector<EmbeddingRow>& rows,
                               const std::vector<Vec3>& rest);
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_SURFACE_PATCHES_H_
