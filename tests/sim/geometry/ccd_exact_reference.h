#ifndef EIPC_TESTS_SIM_GEOMETRY_CCD_EXACT_REFERENCE_H_
#define EIPC_TESTS_SIM_GEOMETRY_CCD_EXACT_REFERENCE_H_

#include <gmpxx.h>

#include "sim/geometry/ccd_queries.h"

// The exact answers that CCD is held against, in rational arithmetic; no rounding, no tolerance, no code shared with it.

namespace eipc::ccd_test {

// Whether the primitives touch at some time in [0, end_time]. Coplanarity is a cubic in time: its roots, as algebraic numbers, are
// the only times that need a test; where it vanishes identically, the times at which a vertex crosses an edge or a vertex are.
bool ExactlyTouches(const CcdQuery& query, double end_time = 1);

// Squared distance of the primitives at the given positions.
mpq_class ExactSquaredDistance(CcdKind kind, const std::array<Vec3, 4>& x);

}  // namespace eipc::ccd_test

#endif  // EIPC_TESTS_SIM_GEOMETRY_CCD_EXACT_REFERENCE_H_
