#ifndef EIPC_SIM_SENSOR_STRESSES_H_
#define EIPC_SIM_SENSOR_STRESSES_H_

#include <vector>

#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// Von Mises stress of each of the body's elements (Body::tets, in their order), Pa; infinite where one is inverted or flat
// (sim/energy/stress.h). Of an affine body they are those of the potential that keeps it stiff, which is no material's. Empty
// without elements.
std::vector<double> BodyStresses(const Model& model, const State& state, int body);

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_STRESSES_H_
