#ifndef EIPC_SIM_AUDIT_SEPARATION_H_
#define EIPC_SIM_AUDIT_SEPARATION_H_

// How far sheets are from what they must keep apart from. Like the rest of the audit it shares no code with the solver.

#include <array>
#include <functional>
#include <vector>

#include "sim/audit/audit.h"

namespace eipc {

// Two features of different triangles: a vertex and a triangle {p, t0, t1, t2}, or two edges {a0, a1, b0, b1}.
struct AuditFeatures {
  bool edges = false;
  std::array<int32_t, 4> v;
};

// Distance of the two features at the vertices `x`, m, by the closest of all pairs of their vertices, edges and faces.
double FeatureDistance(const std::vector<Vec3>& x, const AuditFeatures& features);

// The smallest distance of two features without a common vertex as a part of `separation`, what their thicknesses leave them at
// least (m; 0: nothing, the pair is left out). Found where it is less than 2; infinity where nothing is so near. `half_thickness`:
// by body, m.
double LeastRelativeDistance(const AuditInput& input, const std::vector<double>& half_thickness,
                             const std::function<double(const AuditFeatures&)>& separation);

}  // namespace eipc

#endif  // EIPC_SIM_AUDIT_SEPARATION_H_
