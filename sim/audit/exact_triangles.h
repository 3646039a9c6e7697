#ifndef EIPC_SIM_AUDIT_EXACT_TRIANGLES_H_
#define EIPC_SIM_AUDIT_EXACT_TRIANGLES_H_

// Exact answers on double coordinates (finite ones only): CGAL's filtered predicates, without CGAL's headers.

#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Sign of det[b - a, c - a, d - a].
int ExactOrientation(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
// The three points lie on one line (or coincide).
bool ExactlyCollinear(const Vec3& a, const Vec3& b, const Vec3& c);
// Two triangles (not collapsed) meet, as closed sets, beyond the vertex or the edge that they share by index. Two triangles with
// the same three vertices meet.
bool TrianglesMeet(const std::vector<Vec3>& x, const Triangle& s, const Triangle& t);

// How the segment from p to q passes a triangle (not collapsed).
enum class Crossing { kNone, kThrough, kDegenerate };
// kDegenerate when q lies in the triangle's plane, p in the triangle, or the segment meets its boundary: try another q.
Crossing SegmentCrossing(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace eipc

#endif  // EIPC_SIM_AUDIT_EXACT_TRIANGLES_H_
