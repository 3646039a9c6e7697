#ifndef EIPC_SIM_CONTACT_PAIR_FRICTION_H_
#define EIPC_SIM_CONTACT_PAIR_FRICTION_H_

#include <cstdint>
#include <vector>

#include "sim/contact/friction_law.h"

namespace eipc {

// The friction law of every pair of bodies: a symmetric table, row-major.
struct PairFriction {
  int32_t body_count = 0;
  std::vector<FrictionLaw> laws;  // [a * body_count + b]

  const FrictionLaw& Law(int32_t a, int32_t b) const { return laws[a * body_count + b]; }
  double DynamicCoefficient(int32_t a, int32_t b) const { return Law(a, b).dynamic_coefficient; }
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_PAIR_FRICTION_H_
