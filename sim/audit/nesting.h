#ifndef EIPC_SIM_AUDIT_NESTING_H_
#define EIPC_SIM_AUDIT_NESTING_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// One body's triangles, over the stacked vertices.
struct AuditBody {
  std::vector<Triangle> triangles;

  // Every edge has exactly two triangles, oppositely oriented.
  bool IsClosed() const;
  // One vertex of each connected component, ascending.
  std::vector<int32_t> ComponentVertices() const;
};

// Exact: `p` lies in the solid that the closed body bounds (odd number of crossings of a segment from p to far outside). A point on
// the surface counts as inside.
bool IsInside(const std::vector<Vec3>& x, const AuditBody& body, const Vec3& p);

}  // namespace eipc

#endif  // EIPC_SIM_AUDIT_NESTING_H_
