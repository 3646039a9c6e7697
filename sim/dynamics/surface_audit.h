#ifndef EIPC_SIM_DYNAMICS_SURFACE_AUDIT_H_
#define EIPC_SIM_DYNAMICS_SURFACE_AUDIT_H_

// The exact check of a model's surfaces wherever they are, and whether a world may start there.

#include <string>
#include <vector>

#include "sim/audit/audit.h"
#include "sim/audit/separation.h"
#include "sim/base/types.h"

namespace eipc {

struct Model;

// What the thicknesses of sheets leave two features at least, m; 0: nothing.
double RequiredSeparation(const Model& model, const AuditFeatures& features);

// Surfaces that meet, and bodies that lie inside solids, where vertices are at `x`, m. A sheet bounds nothing: a bag may hold
// things.
AuditReport AuditSurfacesAt(const Model& model, const std::vector<Vec3>& x);

// Why no world may start with its vertices at `x`, m: bodies that intersect or lie inside one another, or that are closer than the
// thickness of shells allows. Names the first two bodies; empty when one may.
std::string StartConflict(const Model& model, const std::vector<Vec3>& x);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SURFACE_AUDIT_H_
