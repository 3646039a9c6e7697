#ifndef EIPC_CLIENT_CPP_TYPES_H_
#define EIPC_CLIENT_CPP_TYPES_H_

// Values that a client sends and receives. SI units; world frame right-handed, z up; quaternions unit, order w x y z.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace eipc::client {

using Vector3 = std::array<double, 3>;

// p_world = rotation * p_frame + position.
struct Pose {
  Vector3 position_m = {0, 0, 0};
  std::array<double, 4> quaternion_wxyz = {1, 0, 0, 0};
};

// Points, row-major [n,3], m.
class Positions {
 public:
  Positions() = default;
  explicit Positions(std::vector<double> values) : values_(std::move(values)) {}
  size_t size() const { return values_.size() / 3; }
  bool empty() const { return values_.empty(); }
  std::span<const double, 3> operator[](size_t i) const { return std::span<const double, 3>(values_.data() + 3 * i, 3); }
  std::span<const double> flat() const { return values_; }

 private:
  std::vector<double> values_;
};

// A pose that a frame should have at the end of the step: a boundary set of a body, or a kinematic body (no set).
struct Target {
  std::string body;
  std::string boundary_set;
  Pose pose;
};

// What a drive is commanded: a position on its guide, m, a speed along it, m/s, or a force, N; of a hinge rad, rad/s or N m.
enum class DriveMode { kUnknown, kPosition, kVelocity, kForce };

// A command for the drive of a slider, which then goes on with it: of a boundary set of a body, or of the whole body (no set); or
// for that of a joint (neither).
struct DriveCommand {
  struct Key {
    double time_s = 0;  // from the start of the request
    double value = 0;
  };
  std::string body;
  std::string boundary_set;
  DriveMode mode = DriveMode::kPosition;
  // At least one, in the order of their times; linear between them.
  std::vector<Key> keys;
  std::string joint = {};
};

// What an observation should hold; what is not asked for stays empty.
struct Observe {
  bool poses = true;
  bool twists = false;
  bool cage_positions = false;
  bool surface_positions = false;
  bool contact_wrenches = false;
  bool contact_counts = false;
  bool min_distance = false;
  bool energies = false;
  bool solver_report = false;
  bool boundary_poses = false;
  bool state_digest = false;
  bool volumes = false;
  bool joints = false;
  // Positions travel as 32-bit numbers: half the bytes.
  bool float32_positions = false;
  // Only these bodies; empty: all.
  std::vector<std::string> bodies;
};

// What fills a body or its cavities.
struct VolumeReading {
  double volume_m3 = 0;
  double overpressure_pa = 0;  // over what is outside
};

struct BodyState {
  std::string name;
  Pose pose;  // of the body frame: origin at the centre of mass
  Vector3 linear_velocity_m_s = {0, 0, 0};
  Vector3 angular_velocity_rad_s = {0, 0, 0};
  Positions cage_positions;
  Positions surface_positions;
  std::vector<VolumeReading> volumes;  // in the order of the scene
};

// Force of `other` on `body`, and its moment about the centre of mass of `body`, world frame.
struct ContactWrench {
  std::string body;
  std::string other;
  Vector3 normal_force_n = {0, 0, 0};
  Vector3 friction_force_n = {0, 0, 0};
  Vector3 normal_moment_nm = {0, 0, 0};
  Vector3 friction_moment_nm = {0, 0, 0};
};

struct Energies {
  double kinetic_j = 0;
  double elastic_j = 0;
  double gravity_j = 0;
  double barrier_j = 0;
  double volume_j = 0;
};

enum class StepOutcome { kUnknown, kConverged, kIterationCap, kStalled };

struct SolverReport {
  StepOutcome outcome = StepOutcome::kUnknown;
  int newton_iterations = 0;
  int linear_solves = 0;
  int line_search_halvings = 0;
  double min_ccd_fraction = 1;
  double residual_m_s = 0;
  double target_error_m = 0;
  int missed_targets = 0;         // drives that were stopped before they arrived; independent of the outcome
  int64_t inverted_elements = 0;  // of the accepted state, in floating point
  int late_steps = 0;             // complete after their time limit
  bool ended_by_time = false;     // the outcome is that of a time limit
  double wall_time_s = 0;
  double barrier_stiffness = 0;
  std::map<std::string, double> stage_seconds;
};

// What a drive did, along its guide; of a hinge rad, rad/s and N m.
struct DriveReading {
  DriveMode mode = DriveMode::kUnknown;
  double commanded = 0;  // m, m/s or N
  double position_m = 0;
  double velocity_m_s = 0;
  double effort_n = 0;
  bool saturated = false;  // the effort is at its limit
  bool blocked = false;    // and moves nothing that way
};

struct BoundaryPose {
  std::string body;
  std::string boundary_set;
  Pose commanded;
  Pose achieved;
  double error_m = 0;                      // largest distance of a driven vertex from where the command places it
  std::optional<DriveReading> drive = {};  // of a slider
};

// A joint of the scene: where it is, and what it exerts on its body_a (the opposite on its body_b).
struct JointReading {
  std::string name;
  double position = 0;  // rad, over whole turns, or m
  double velocity = 0;
  double effort = 0;       // along it: N m or N
  double drift_m = 0;      // largest distance between points that it holds together
  Vector3 force_n = {};    // world
  Vector3 moment_nm = {};  // about point_m, world
  Vector3 point_m = {};    // of body_a, world
  std::optional<DriveReading> drive = {};
};

struct Observation {
  int64_t step = 0;
  double time_s = 0;
  std::vector<BodyState> bodies;
  std::vector<ContactWrench> contact_wrenches;
  int point_triangle_contacts = 0;
  int edge_edge_contacts = 0;
  double min_distance_m = std::numeric_limits<double>::infinity();
  Energies energies;
  SolverReport solver;
  std::vector<BoundaryPose> boundary_poses;
  std::vector<JointReading> joints = {};
  std::string state_digest;

  // nullptr when the observation has no such body.
  const BodyState* Find(const std::string& body) const;
  // Normal and friction, from all others, N.
  Vector3 ContactForceOn(const std::string& body) const;
};

struct StepOptions {
  std::vector<Target> targets;
  Observe observe;
  int substeps = 1;
  // The step is refused (ABORTED) unless the session is at this step.
  std::optional<int64_t> expected_step;
  // A step sent again with the id of the last finished one returns its observation without stepping.
  std::string request_id;
  // Which of the session's worlds.
  int world = 0;
  std::vector<DriveCommand> drives = {};
  // Wall-clock time of each step, after which its solves end with the best state that they have, free of intersections. 0: no
  // limit.
  double time_limit_s = 0;
};

struct SessionOptions {
  int threads = 1;  // inside one step
  int worlds = 1;
  // Keep what happens, for Session::Recording.
  bool record = false;
  // Bytes from Session::Snapshot: where the worlds start. Empty: at the scene's start.
  std::string snapshot;
};

struct BodyInfo {
  std::string name;
  std::string kind;
  double mass_kg = 0;
  int cage_vertices = 0;
  int cage_tets = 0;
  int surface_vertices = 0;
  int surface_triangles = 0;
  std::vector<std::string> boundary_sets;
};

struct SceneInfo {
  std::string name;  // "scenes/{id}"
  std::string display_name;
  int unknowns = 0;
  int surface_vertices = 0;
  int surface_triangles = 0;
  std::vector<BodyInfo> bodies;
};

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_TYPES_H_
