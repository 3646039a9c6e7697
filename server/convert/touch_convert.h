#ifndef EIPC_SERVER_CONVERT_TOUCH_CONVERT_H_
#define EIPC_SERVER_CONVERT_TOUCH_CONVERT_H_

#include <cstdint>
#include <vector>

#include "sim/dynamics/world.h"

namespace eipc::v1 {
class Observation;
class ObservationRequest;
}  // namespace eipc::v1

namespace eipc {

// The groups of an observation that are of touch: what was asked for, and how it is written.
class TouchPlan {
 public:
  TouchPlan() = default;
  // float32: element type of arrays.
  TouchPlan(const v1::ObservationRequest& request, bool float32);

  // Whether Observe wants positions.
  bool wants_positions() const { return contact_tractions_; }
  // Whether it writes into bodies.
  bool wants_bodies() const { return contact_tractions_ || stresses_; }
  // The most that one body takes on the wire, bytes.
  int64_t MostBytes(const Body& body) const;

  // Adds to the observation, whose bodies are `bodies` (indices, in order) where wants_bodies(). x: of the surface, m, where
  // wants_positions().
  void Observe(const World& world, const std::vector<int>& bodies, const std::vector<Vec3>& x, v1::Observation* out) const;

 private:
  static void ObserveSlips(const World& world, const std::vector<int>& bodies, v1::Observation* out);
  void ObserveTractions(const World& world, const std::vector<int>& bodies, const std::vector<Vec3>& x, v1::Observation* out) const;

  bool contact_tractions_ = false;
  bool stresses_ = false;
  bool slips_ = false;
  bool float32_ = false;
};

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_TOUCH_CONVERT_H_
