#ifndef EIPC_SIM_MATERIAL_LANE_LOG_H_
#define EIPC_SIM_MATERIAL_LANE_LOG_H_

#include "sim/base/quad.h"

namespace eipc {

// The natural logarithm of four numbers: within a unit in the last place of normal positive ones, std::log's of all others.
Quad Log(const Quad& x);

// MinusLogOnePlus (strain_invariants.h) of four.
Quad MinusLogOnePlus(const Quad& x);

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_LANE_LOG_H_
