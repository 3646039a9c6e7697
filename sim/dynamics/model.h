#ifndef EIPC_SIM_DYNAMICS_MODEL_H_
#define EIPC_SIM_DYNAMICS_MODEL_H_

// A compiled scene: const, shared by every world that runs it.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/types.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/surface_summaries.h"
#include "sim/contact/contact_settings.h"
#include "sim/contact/contact_weights.h"
#include "sim/contact/pair_friction.h"
#include "sim/dynamics/dynamics_settings.h"
#include "sim/dynamics/goal.h"
#include "sim/dynamics/joint.h"
#include "sim/dynamics/shell_marks.h"
#include "sim/dynamics/slider.h"
#include "sim/dynamics/trajectory.h"
#include "sim/energy/elasticity.h"
#include "sim/energy/pose_drive.h"
#include "sim/energy/shell_body.h"
#include "sim/energy/volume.h"
#include "sim/linalg/scalar_sparse.h"
#include "sim/material/material.h"
#include "sim/mesh/embedding.h"
#include "sim/mesh/mass_properties.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/solver/solver_settings.h"

namespace eipc {

// What a body can do. The step asks these and knows no kinds (sim/scene/body_kinds.h has them).
struct BodyTraits {
  bool moves = false;    // it has nodes
  bool deforms = false;  // it changes shape, so that it may touch itself and parts of it may be driven
  bool reacts = false;   // forces move it
  bool thin = false;     // a sheet: it bounds no solid, even where it is closed
  // Its whole motion is prescribed.
  bool IsDriven() const { return moves && !reacts; }
};

struct IndexRange {
  int32_t begin = 0;
  int32_t end = 0;
  int32_t size() const { return end - begin; }
};

// What the scene says of a body's material: where a reset that changes it begins (materials.h).
struct SceneMaterial {
  MaterialSpec given;     // its density is 0 where the scene gives the mass instead
  MaterialSpec elements;  // of its elements, which differs in a calibrated cage
  // The stiffness of its cage was found for the Poisson's ratio that it has: it is condensed, or calibrated.
  bool fixed_poissons_ratio = false;
};

// What reports and sensors know of a body; the solver never sees this.
struct Body {
  std::string name;
  std::string kind;  // its name in reports
  BodyTraits traits;
  IndexRange nodes;      // in the stacked generalized positions q (3 unknowns a node)
  IndexRange tets;       // in Model::elements
  IndexRange vertices;   // in the stacked collision surface
  IndexRange triangles;  // in the stacked collision surface
  // At rest, world frame of the initial placement: of the solid bounded by the surface, or of the sheet (zero mass for what does
  // not react).
  MassProperties mass;
  // Initial pose of the body frame: origin at the centre of mass, axes of the authored mesh.
  Pose initial_pose;
  // The authored mesh frame at the start, in the body frame.
  Pose mesh_frame;
  // Constant, N, spread over the mass: no moment about the centre of mass.
  Vec3 external_force = Vec3::Zero();
  // Of what reacts and is no shell.
  std::optional<SceneMaterial> scene_material;
};

// Nodes that follow a frame: a boundary set of a deformable body, or all nodes of a driven one (empty name). Prescribed, unless a
// slider holds them.
struct BoundarySet {
  std::string name;
  int32_t body = 0;
  std::vector<int32_t> nodes;
  std::vector<Vec3> local_positions;  // in the frame
  Pose initial_pose;
  Trajectory trajectory;
  bool slides = false;  // one of Model::sliders or Model::pose_drives: nothing is prescribed
};

// An affine body that is drawn to where the frame of its set is commanded, with limited force and moment.
struct PoseDrive {
  int32_t boundary_set = 0;  // index in Model::boundary_sets
  PoseDriveGains gains;
  BodyFrame frame;  // authored mesh frame
};

struct HoldingWindow {
  int32_t body = -1;  // -1: none
  double start_s = 0;
  double end_s = 0;
};

struct Model {
  std::string name;
  Vec3 gravity = Vec3(0, 0, -9.81);
  std::vector<Body> bodies;
  std::vector<BoundarySet> boundary_sets;
  std::vector<Slider> sliders;
  std::vector<PoseDrive> pose_drives;
  std::vector<Joint> joints;

  // Generalized coordinates.
  int32_t node_count = 0;
  std::vector<Vec3> initial_positions;   // of nodes at rest, as placed: what poses refer to
  std::vector<Vec3> start_positions;     // of nodes in the initial state: the same, or those of static equilibrium
  std::vector<Vec3> initial_velocities;  // of nodes
  ScalarSparse mass;                     // symmetric node-by-node mass, kg; acts on each coordinate alike
  std::vector<ElasticBody> elastic;      // elements by body
  std::vector<ShellBody> shells;         // sheets by body
  std::vector<ShellMarks> shell_marks;   // of the same
  std::vector<FilledRegion> filled_regions;

  // Collision surface.
  CollisionSurface surface;
  std::vector<EmbeddingRow> embedding;  // one row a surface vertex; count 0: fixed at surface_offset
  std::vector<Vec3> surface_offset;     // positions of static vertices (zero elsewhere)
  SurfaceSummaries summaries;           // of the nodes of the bodies' bounding-volume trees
  ContactWeights contact_weights;       // of the area-weighted barrier

  PairFriction friction;

  ContactSettings contact;
  SolverSettings solver;
  DynamicsSettings dynamics;
  HoldingWindow holding;
  std::vector<Goal> goals;
  double schedule_duration_s = 0;
  double schedule_dt_s = 0;

  // By node: gravity and what the body's external force adds to it.
  std::vector<Vec3> NodeAccelerations() const;
  int FindBody(const std::string& body_name) const;                            // -1 when unknown
  int FindBoundarySet(const std::string& body, const std::string& set) const;  // -1 when unknown
  int FindSlider(int boundary_set) const;                                      // -1 when it has none
  int FindPoseDrive(int boundary_set) const;                                   // -1 when it has none
  int FindJoint(const std::string& joint_name) const;                          // -1 when unknown
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_MODEL_H_
