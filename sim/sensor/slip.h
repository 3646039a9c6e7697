#ifndef EIPC_SIM_SENSOR_SLIP_H_
#define EIPC_SIM_SENSOR_SLIP_H_

#include <map>
#include <utility>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/pair_slip.h"
#include "sim/dynamics/state.h"

namespace eipc {

// Measures how far the bodies of each pair have slid on each other since the meter was made, m: it integrates the slip velocity
// over the steps that ended in contact.
class SlipMeter {
 public:
  explicit SlipMeter(const Model* model) : model_(model) {}

  // After each step, of this size.
  void Add(const State& state, const ContactForces& contacts, double dt_s);
  // Of `body` on `other`; zero where they have not touched.
  Vec3 Displacement(int32_t body, int32_t other) const;

 private:
  const Model* model_;
  std::map<std::pair<int32_t, int32_t>, Vec3> displacements_;
};

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_SLIP_H_
