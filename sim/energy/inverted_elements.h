#ifndef EIPC_SIM_ENERGY_INVERTED_ELEMENTS_H_
#define EIPC_SIM_ENERGY_INVERTED_ELEMENTS_H_

#include <cstdint>

#include "sim/energy/elasticity.h"

namespace eipc {

// How many elements of the body have no positive volume at the node positions q, in floating point: what every step can afford. The
// sign of an element that is flat to rounding is not decided exactly; InvertedTets (sim/audit/audit.h) does so.
int64_t InvertedElements(const ElasticBody& body, const VecX& q);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_INVERTED_ELEMENTS_H_
