#ifndef EIPC_TESTS_SIM_GEOMETRY_CCD_ADVERSARIAL_H_
#define EIPC_TESTS_SIM_GEOMETRY_CCD_ADVERSARIAL_H_

#include <cstdint>
#include <string>

#include "sim/geometry/ccd_queries.h"

namespace eipc::ccd_test {

// A query that floating-point CCD is likely to get wrong, the same for the same seed everywhere; `collides` is not filled in. The
// seed runs through families: gaps and motions of a few ulp, far offsets, degenerate primitives, parallel edges, coplanar and
// lattice motion (exact touching), grazing contact, and scales from 1e-13 to 1e6 m.
CcdQuery AdversarialQuery(uint64_t seed);

// All 24 numbers as hexadecimal floats, to paste into a test.
std::string ToString(const CcdQuery& query);

}  // namespace eipc::ccd_test

#endif  // EIPC_TESTS_SIM_GEOMETRY_CCD_ADVERSARIAL_H_
