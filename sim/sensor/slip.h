#ifndef EIPC_SIM_SENSOR_SLIP_H_
#define EIPC_SIM_SENSOR_SLIP_H_

#include <map>
#include <utility>
#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// How a body slides on another: the velocity of its surface relative to the other's where they touch, without the part along the
// contact normal, as the mean over the contacts weighed by their normal forces. World frame.
struct PairSlip {
  int32_t body = 0;
  int32_t other = 0;        // body < other
  double normal_force = 0;  // N, the sum over the contacts
  Vec3 velocity = Vec3::Zero();
};

// Of the pairs in contact at the end of a step, sorted. `contacts` belong to `state`.
std::vector<PairSlip> Slips(const Model& model, const State& state, const ContactForces& contacts);

// The way that each pair has slid, m, since the meter was made: the integral of the slip velocity over the steps that ended in
// contact.
class SlipMeter {
 public:
  explicit SlipMeter(const Model* model) : model_(model) {}

  // After each step, of this size.
  void Add(const State& state, const ContactForces& contacts, double dt_s);
  // Of `body` on `other`; zero where they have not touched.
  Vec3 Way(int32_t body, int32_t other) const;

 private:
  const Model* model_;
  std::map<std::pair<int32_t, int32_t>, Vec3> ways_;
};

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_SLIP_H_
