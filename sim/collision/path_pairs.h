#ifndef EIPC_SIM_COLLISION_PATH_PAIRS_H_
#define EIPC_SIM_COLLISION_PATH_PAIRS_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/collision/broad_phase.h"
#include "sim/collision/piece_shapes.h"

namespace eipc {

// Pairs that come within `distance` somewhere on a straight way of the nodes, for ways so long that BroadPhase's regions, which
// know nothing of where on the way one is, would hold half the scene.
//
// Boxes are kept at both ends. The lower side of a box around points that move straight is a concave function of time, the upper
// side a convex one; so two boxes that are apart by some length along an axis at both ends are apart by as much along it all the
// way.
class PathPairs {
 public:
  // `interrupt`, which ends Find early, may be null.
  PathPairs(const CollisionSurface* surface, const SurfacePatches* patches, const std::vector<EmbeddingRow>* rows,
            const std::vector<Vec3>* offsets, double dhat, Interrupt* interrupt = nullptr);

  // `searched`, where given: by its last CoversWay, pairs of bodies that are inside their regions are left out.
  void Find(const VecX& from, const VecX& to, double distance, const BroadPhase* searched = nullptr);
  // No bounds: all are to be looked at.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // Of the vertices that candidates have, at both ends, m.
  const std::vector<Vec3>& from() const { return from_; }
  const std::vector<Vec3>& to() const { return to_; }

 private:
  struct Boxes {
    WideBox from;
    WideBox to;
    void Include(const Boxes& other) {
      from.Include(other.from);
      to.Include(other.to);
    }
    bool Meets(const Boxes& other) const { return from.MeetsAlong(other.from, to, other.to); }
  };
  const Boxes& VertexBoxes(int32_t v);
  Boxes TriangleBoxes(int32_t t);
  const Boxes& TreeBoxes(int32_t body, int32_t node);
  Boxes PatchBoxes(const SurfacePatch& patch) const;
  // Around all of a body, from its nodes alone.
  Boxes BodyBoxes(int32_t body);
  void Traverse(int32_t body_a, int32_t body_b);
  void AddTrianglePair(int32_t a, int32_t b, bool self);
  void AddPointTriangle(int32_t p, int32_t t, bool self);
  void AddEdgeEdge(int32_t e, int32_t f, bool self);
  void AddCandidate(const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind, bool self);

  const CollisionSurface* surface_;
  const SurfacePatches* patches_;
  const std::vector<EmbeddingRow>* rows_;
  const std::vector<Vec3>* offsets_;
  double dhat_;
  PieceShapes shapes_;
  Interrupt* interrupt_;
  int64_t pairs_ = 0;  // looked at, of tree nodes and of triangles
  double distance_ = 0;
  uint64_t stamp_ = 0;
  const VecX* q_from_ = nullptr;
  const VecX* q_to_ = nullptr;
  std::vector<uint64_t> vertex_stamp_;
  std::vector<std::vector<uint64_t>> tree_stamp_;
  std::vector<Vec3> from_, to_;  // by vertex
  std::vector<Boxes> vertex_boxes_;
  std::vector<std::vector<Boxes>> tree_boxes_;
  std::vector<Boxes> body_boxes_;
  std::vector<std::pair<double, int32_t>> by_x_;  // low end of all that a body comes to, and the body
  std::vector<std::pair<int32_t, int32_t>> stack_;
  std::vector<Candidate> candidates_;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_PATH_PAIRS_H_
