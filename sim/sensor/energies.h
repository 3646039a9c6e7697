#ifndef EIPC_SIM_SENSOR_ENERGIES_H_
#define EIPC_SIM_SENSOR_ENERGIES_H_

#include <vector>

#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/world.h"

namespace eipc {

struct Energies {
  double kinetic_j = 0;
  double elastic_j = 0;
  double gravity_j = 0;  // of gravity and of the bodies' constant external forces
  double barrier_j = 0;
  double volume_j = 0;  // of what fills closed surfaces, zero at rest volume
};
// Of any state; searches its contacts, which takes as long as many steps.
Energies ComputeEnergies(const Model& model, const State& state, const std::vector<Vec3>& x);
// Of a world as it is; after a step its contacts are known.
Energies ComputeEnergies(const World& world, const std::vector<Vec3>& x);

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_ENERGIES_H_
