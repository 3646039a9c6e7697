#ifndef EIPC_SIM_DYNAMICS_STATE_H_
#define EIPC_SIM_DYNAMICS_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/types.h"
#include "sim/contact/contact_forces.h"
#include "sim/dynamics/slider.h"

namespace eipc {

struct Model;

// Everything carried from one step to the next. Snapshot = copy; restore + same inputs = the same bits. A new field is also named
// in state_fields.h (it does not compile otherwise), where digest and snapshots find it.
struct State {
  int64_t step = 0;
  double time_s = 0;
  VecX q;  // node positions, m, 3 a node
  VecX v;  // node velocities, m/s
  // Barrier stiffness in use (N/m per pair, N/m^3 area weighted); adapted when the scene gives none.
  double barrier_stiffness = 0;
  // One per Model::boundary_sets: the pose commanded, whether a client commanded it (then it no longer follows its
  // trajectory), and how far it is behind (achieved = commanded when zero), m.
  struct Drive {
    Pose commanded;
    bool by_client = false;
    double error_m = 0;
  };
  std::vector<Drive> drives;
  // Integrator history: what a scheme keeps of the step before. None where the scheme needs nothing.
  struct History {
    double dt_s = 0;  // size of that step (of its last part, where it was cut); 0: positions and velocities are not kept
    VecX q;           // at its start, for multistep methods
    VecX v;
    int64_t halvings = 0;  // steps are being cut into 2^halvings (step-size control by Newton effort)
  };
  std::optional<History> history;

  // What an integrator that is not stable at any step size found last (stability_guard.h): the largest (h omega)^2 + 2 h d. None
  // where the scheme is.
  struct Stability {
    double dt_s = 0;  // size of that step
    double angle2 = 0;
  };
  std::optional<Stability> stability;

  // Pairs of nodes, smaller first, sorted, that contact has coupled lately: where the next step's matrix pattern starts from. Here
  // because the pattern decides the order of elimination, and that the last bits.
  std::vector<std::pair<int32_t, int32_t>> contact_pairs;

  // A contact between bodies that do not move, with the forces it was last solved with.
  struct HeldContact {
    ContactForce force;
    double potential_m2 = 0;  // contact energy over the barrier's stiffness
  };
  // Bodies that are left out of the solve because they are at rest (sleep_manager.h). None where bodies never sleep.
  struct Sleep {
    struct Body {
      double calm_s = 0;  // time for which it has been slower than SleepSettings::speed_m_s
      bool asleep = false;
    };
    std::vector<Body> bodies;  // one per Model::bodies
    VecX baseline_force;       // by node: contact force of awake bodies on its body when that fell asleep, N
    // Never null; shared by the states between which it does not change.
    std::shared_ptr<const std::vector<HeldContact>> held = std::make_shared<const std::vector<HeldContact>>();
  };
  std::optional<Sleep> sleep;

  // One per Model::sliders: what its drive is commanded, by a client (then it no longer follows its motion) or by its motion, and
  // what it did in the last step.
  struct Slider {
    DriveMode mode = DriveMode::kPosition;
    double value = 0;  // m, m/s or N
    double rate = 0;   // of a commanded position, m/s
    bool by_client = false;
    double position_m = 0;    // along the guide
    double velocity_m_s = 0;  // along the guide, relative to it
    double effort_n = 0;      // of the drive, at the end of the last stage
    bool saturated = false;   // the effort is at its limit
    bool blocked = false;     // and it moves nothing in that direction
  };
  std::vector<Slider> sliders;

  // Two bodies that touch, and how far the first has slid on the second since they began to (pair_slip.h).
  struct Slide {
    int32_t body = 0;  // < other
    int32_t other = 0;
    double begun_s = 0;                  // when the first step began that ended in contact
    Vec3 displacement_m = Vec3::Zero();  // integral of the slip velocity, world frame
    double path_m = 0;                   // integral of its magnitude
  };
  std::vector<Slide> slides;  // sorted; none where the model does not track slip

  // One per Model::joints: where it is and what it exerted at the end of the last stage. All zero, but for the position, at first.
  struct Joint {
    double position = 0;            // of its coordinate, angles counted over whole turns: rad or m
    double velocity = 0;            // rad/s or m/s
    double effort = 0;              // of its spring, damper and stops along the coordinate: N m or N
    double drift_m = 0;             // greatest distance between points that it holds together
    Vec3 force_n = Vec3::Zero();    // on its first body
    Vec3 moment_nm = Vec3::Zero();  // on its first body, about the joint's point there
    // What its drive is asked for in its mode (rad, m or effort), and, as of a slider, its setpoint and its result. They differ
    // where its acceleration is limited.
    double goal = 0;
    Slider drive;
  };
  std::vector<Joint> joints;

  // One per Model::pose_drives: what it exerted at the end of the last stage. The moment is about the frame's origin.
  struct PoseDrive {
    Vec3 force_n = Vec3::Zero();
    Vec3 moment_nm = Vec3::Zero();
    bool saturated = false;  // a force or the moment is at its limit
    bool blocked = false;    // and the body does not move in its direction
  };
  std::vector<PoseDrive> pose_drives;

  // A body of which a reset changed the material, and what it has in place of the scene's (materials.h).
  struct BodyMaterial {
    int32_t body = 0;
    double youngs_modulus_pa = 0;
    double poissons_ratio = 0;
    double density_kg_m3 = 0;
    double friction_factor = 1;  // of the friction with any other body, and with itself
    bool operator==(const BodyMaterial&) const = default;
  };
  std::vector<BodyMaterial> materials;  // by body, ascending; kept until the next reset

  // 64-bit digest over every bit above, as 16 hex digits.
  std::string Digest() const;
};

// Whether the pairs are as State wants them, of nodes below `node_count`.
bool ContactPairsFit(const State& state, int32_t node_count);

State InitialState(const Model& model);
// Whether its sizes are those of states of this model.
bool StateFits(const State& state, const Model& model);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STATE_H_
