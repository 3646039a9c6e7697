#ifndef EIPC_SERVER_CONVERT_OBSERVATION_CONVERT_H_
#define EIPC_SERVER_CONVERT_OBSERVATION_CONVERT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/convert/camera_convert.h"
#include "server/convert/touch_convert.h"
#include "sim/dynamics/world.h"

namespace eipc::v1 {
class Observation;
class ObservationRequest;
}  // namespace eipc::v1

namespace eipc {

class BodyPoses;

// A checked ObservationRequest: observing cannot fail, so that a request is refused before the world has moved.
class ObservationPlan {
 public:
  // NOT_FOUND for an unknown body (naming those there are), INVALID_ARGUMENT for an element type that positions do not come in, and
  // for cameras that cannot be; they name the request's fields from `path` on.
  static absl::StatusOr<ObservationPlan> Create(const Model& model, const v1::ObservationRequest& request,
                                                absl::string_view path = "observe");

  // Indices of the bodies that per-body groups are of, in the model's order.
  const std::vector<int>& bodies() const { return bodies_; }

  // Whether the request asked for a step receipt: the caller fills it, Observe does not know of requests.
  bool step_receipt() const { return step_receipt_; }

  // What the request asked for of cameras: the caller has their pictures drawn, Observe does not.
  const CameraPlan& cameras() const { return cameras_; }

  // What an observation has at most on the wire, contacts apart, whose number is not known before.
  int64_t MostBytes(const Model& model) const;

  // What was asked for, of the world's state and of its last step (after a reset: no contacts, an empty report).
  void Observe(const World& world, v1::Observation* out) const;

 private:
  bool poses_ = false;
  bool twists_ = false;
  bool cage_positions_ = false;
  bool surface_positions_ = false;
  bool contact_wrenches_ = false;
  bool contact_counts_ = false;
  bool min_distance_ = false;
  bool energies_ = false;
  bool solver_report_ = false;
  bool boundary_poses_ = false;
  bool state_digest_ = false;
  bool step_receipt_ = false;
  bool volumes_ = false;
  bool shells_ = false;
  bool float32_ = false;
  // What is read of the scene and the state alone.
  struct Readings {
    bool joints = false;
    bool goals = false;
    bool materials = false;
  } readings_;
  TouchPlan touch_;
  CameraPlan cameras_;
  std::vector<int> bodies_;        // in the model's order
  std::vector<bool> body_wanted_;  // by body

  void ObserveBodies(const World& world, const std::vector<Vec3>& x, BodyPoses* poses, v1::Observation* out) const;
  void ObserveContacts(const World& world, const std::vector<Vec3>& x, BodyPoses* poses, v1::Observation* out) const;
  void ObserveBoundaryPoses(const World& world, v1::Observation* out) const;
};

// The wire's word for how a step ended, as its number (v1::StepOutcome).
int OutcomeToWire(StepOutcome outcome);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_OBSERVATION_CONVERT_H_
