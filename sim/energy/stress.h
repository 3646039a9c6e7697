#ifndef EIPC_SIM_ENERGY_STRESS_H_
#define EIPC_SIM_ENERGY_STRESS_H_

#include <vector>

#include "sim/energy/elasticity.h"

namespace eipc {

// Of a symmetric stress: sqrt(3/2 s : s) with its deviator s, in the unit of the stress. Of uniaxial stress, its magnitude.
double VonMises(const Mat3& stress);

// Cauchy stress P F^T / det F of an element at the node positions q, Pa, world frame: of the elastic energy, without damping, and
// with rotations taken from q. Its numbers are not finite where the element is inverted or flat.
Mat3 CauchyStress(const ElasticBody& body, size_t element, const VecX& q);

// VonMises of every element's Cauchy stress, Pa; infinite where the element is inverted or flat.
std::vector<double> VonMisesStresses(const ElasticBody& body, const VecX& q);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_STRESS_H_
