#ifndef EIPC_SIM_COLLISION_CANDIDATE_H_
#define EIPC_SIM_COLLISION_CANDIDATE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/types.h"
#include "sim/collision/contact_kind.h"
#include "sim/collision/vertex_list.h"

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
  double offset = 0;  // its own (OwnRange), m
  double reach() const { return dhat + offset; }
};

// Bounds of displacements from the anchors, m, rounded up: of vertices relative to the centroid of their body (valid for the
// vertices of BroadPhase::vertices() only), and of the centroids of pairs of bodies relative to each other.
struct DisplacementBounds {
  std::vector<double> own;
  std::vector<double> shift;
  std::vector<double> body;     // of every vertex of the body, m
  std::vector<Vec3> centroids;  // of bodies, m
  // Indices of the candidates that are to be examined, ascending; null: all.
  const std::vector<int32_t>* among = nullptr;

  // The larger of both: of `vertices`; of bodies and their relative displacements.
  void IncludeVertices(const DisplacementBounds& other, const VertexList& vertices) {
    for (const int32_t v : vertices.list()) own[v] = other.own[v] > own[v] ? other.own[v] : own[v];
  }
  void IncludeBodies(const DisplacementBounds& other) {
    for (size_t k = 0; k < shift.size(); ++k) shift[k] = other.shift[k] > shift[k] ? other.shift[k] : shift[k];
    for (size_t k = 0; k < body.size(); ++k) body[k] = other.body[k] > body[k] ? other.body[k] : body[k];
  }
  // No pair is nearer than its bound less this.
  double Approach(const Candidate& c) const {
    const double v0 = own[c.v[0]], v1 = own[c.v[1]], v2 = own[c.v[2]], v3 = own[c.v[3]];
    const double far = v2 > v3 ? v2 : v3;
    return shift[c.list] + (c.kind == ContactKind::kPointTriangle ? v0 + (v1 > far ? v1 : far) : (v0 > v1 ? v0 : v1) + far);
  }
};

// Nothing asks for a pair that is farther than this beyond its own reach, m: collision detection holds 0.1 of it, and at least some
// rounding (LargestExaminedGap; for coordinates of some kilometres that is as much as this).
inline constexpr double kLeastExamined = 1e-9;

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_CANDIDATE_H_
