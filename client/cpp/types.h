#ifndef EIPC_CLIENT_CPP_TYPES_H_
#define EIPC_CLIENT_CPP_TYPES_H_

// Values that a client sends and receives. SI units; world frame right-handed, z up; quaternions unit, order w x y z.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cpp/camera.h"
#include "client/cpp/geometry.h"
#include "client/cpp/touch.h"

namespace eipc::client {

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
  bool contact_tractions = false;  // forces on single vertices of the surfaces
  bool slips = false;              // how bodies that touch slide on each other
  bool stresses = false;           // von Mises stress of the elements of bodies that deform
  bool force_balance = false;      // how far forces are from balance; the solver report comes with it
  bool materials = false;          // of bodies to which a reset gave another one than the scene's
  // Positions, forces, areas and stresses travel as 32-bit numbers: half the bytes.
  bool float32_positions = false;
  // Only these bodies; empty: all.
  std::vector<std::string> bodies;
  std::vector<Camera> cameras = {};  // of the server, which sees all bodies
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
  std::optional<ContactTractions> contact_tractions = {};
  // Of each tetrahedron of the body's mesh or cage, in its order: von Mises stress of the Cauchy stress, infinite in an inverted or
  // flat one. Empty: not asked for, or of a body that does not deform.
  std::vector<double> von_mises_pa = {};
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

// Numbers of a body's material. In a reset none is the scene's; in an observation none is what the body does not have: some
// materials have no Poisson's ratio. The density of a body with affine.inertia is the given mass over its mesh's volume.
struct BodyMaterial {
  std::string body;
  std::optional<double> youngs_modulus_pa = {};
  std::optional<double> poissons_ratio = {};
  std::optional<double> density_kg_m3 = {};
  // Friction of every pair that the body is part of, over that of the scene; of two bodies that have one, both count.
  std::optional<double> friction_factor = {};
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
  // Largest resultant of what is not in balance on one body, where it was asked for; explicit integrators have none.
  std::optional<double> unbalanced_force_n;
  bool ended_by_time = false;  // the outcome is that of a time limit
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
  bool blocked = false;    // and it moves nothing in that direction
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
  std::vector<PairSlip> slips = {};  // both orders of each pair in contact
  std::vector<BodyMaterial> materials = {};
  CameraPictures cameras = {};
  std::string state_digest;

  // nullptr when the observation has no such body.
  const BodyState* Find(const std::string& body) const;
  // Normal and friction, from all others, N.
  Vector3 ContactForceOn(const std::string& body) const;
  // On several bodies together, N: forces between two of them are inner ones and left out.
  Vector3 ContactForceOnHand(const std::vector<std::string>& bodies) const;
  // The moment of the same forces about a point of the world, N m: what a hand of these bodies feels at its wrist. Needs
  // contact_wrenches and poses; NOT_FOUND: a body that the observation does not have.
  absl::StatusOr<Vector3> ContactMomentOnHand(const std::vector<std::string>& bodies, const Vector3& about_m) const;
  // nullptr when the two do not touch, or slips were not asked for.
  const PairSlip* FindSlip(const std::string& body, const std::string& other) const;
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
