#ifndef EIPC_SIM_COLLISION_CANDIDATE_H_
#define EIPC_SIM_COLLISION_CANDIDATE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/base/types.h"
#include "sim/collision/contact_kind.h"
#include "sim/collision/view_frame.h"

namespace eipc {

// A pair of primitives that may come within the detection distance. Vertices as in ContactForce.
struct Candidate {
  std::array<int32_t, 4> v;
  // Point (vertex index) or first edge, and triangle or second edge, in surface indices.
  int32_t first;
  int32_t second;
  ContactKind kind;
  bool of_one_body = false;
  int32_t list = 0;  // index of its pair of bodies in DisplacementBounds::shift
  double dhat = 0;   // its own (OwnRange), m
  // The pair is at least this far apart where each vertex is at its anchor (BroadPhase::Displacements), m; certified, negative when
  // unknown.
  double bound = -std::numeric_limits<double>::infinity();
  double offset = 0;           // its own (OwnRange), m
  bool first_is_of_b = false;  // the first side is of the second body of its pair of bodies
  double reach() const { return dhat + offset; }
};

// Displacements from the anchors, m, and bounds of them, rounded up: of vertices (valid for those of BroadPhase::vertices() only)
// and of pairs of bodies. Of one state, or of the whole straight path from another state to it.
struct DisplacementBounds {
  std::vector<double> own;     // of vertices, seen along the axes of the world from the centroid of their body
  std::vector<double> turned;  // the same seen along the axes of their body; for candidates of one body
  // By pair of bodies: of the vector between their centroids. Of one body: how far everything leaves straight lines, twice.
  std::vector<double> shift;
  std::vector<double> sides;  // by pair of bodies: of every vertex of one and every vertex of the other, summed
  std::vector<double> slack;  // by pair of bodies: the rounding of differences of what `end` and `start` have
  // The same as vectors, by vertex and by pair of bodies: of the state, and of the other end of the path.
  struct Moves {
    std::vector<Vec3> own, turned, shift;
  };
  Moves end, start;
  bool of_path = false;
  // By body.
  struct Seen {
    ViewFrame along_world, along_body;
    QuadFrame from_world, from_body;
    double most = 0;    // of along_world: of every vertex of the body, m
    double radius = 0;  // of both: nothing of the body is farther from their origin, m
    double slack = 0;   // of both: the rounding of displacements of its vertices, m
    int32_t list = -1;  // its pair with itself; -1: it has none
  };
  std::vector<Seen> bodies;
  // Indices of the candidates that are to be examined, ascending; null: all.
  const std::vector<int32_t>* among = nullptr;

  void ResizeVertices(size_t count);
  // Become bounds for the whole straight path from another state: of `vertices`; of bodies and their relative displacements.
  void IncludeVertices(const DisplacementBounds& other, std::span<const int32_t> vertices);
  void IncludeBodies(const DisplacementBounds& other);
  // No pair is nearer than its bound less this.
  double Approach(const Candidate& c) const {
    const std::vector<double>& of = c.of_one_body ? turned : own;
    const double v0 = of[c.v[0]], v1 = of[c.v[1]], v2 = of[c.v[2]], v3 = of[c.v[3]];
    const double far = v2 > v3 ? v2 : v3;
    return shift[c.list] + (c.kind == ContactKind::kPointTriangle ? v0 + (v1 > far ? v1 : far) : (v0 > v1 ? v0 : v1) + far);
  }
  // The same from the displacements of both sides relative to each other: less where they move along together, and dearer.
  double RelativeApproach(const Candidate& c) const;
};

// Whether the pair is certain to stay at least this far apart, m.
inline bool StaysApart(const Candidate& c, const DisplacementBounds& displaced, double distance) {
  return c.bound - displaced.Approach(c) >= distance || c.bound - displaced.RelativeApproach(c) >= distance;
}

// Nothing asks for a pair that is farther than this beyond its own reach, m: collision detection holds 0.1 of it, and at least some
// rounding (LargestExaminedGap; for coordinates of some kilometres that is as much as this).
inline constexpr double kLeastExamined = 1e-9;

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_CANDIDATE_H_
