#ifndef EIPC_SIM_SCENE_SCENE_SPEC_H_
#define EIPC_SIM_SCENE_SCENE_SPEC_H_

// Plain authoring data of a scene, meshes already in memory. Checked and compiled by CompileScene.

#include <optional>
#include <string>
#include <vector>

#include "sim/base/types.h"
#include "sim/contact/contact_settings.h"
#include "sim/contact/friction_law.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/slider.h"
#include "sim/dynamics/trajectory.h"
#include "sim/material/material.h"
#include "sim/mesh/mass_properties.h"
#include "sim/mesh/mesh_data.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/joint_spec.h"
#include "sim/scene/selection_box.h"
#include "sim/scene/shell_spec.h"
#include "sim/solver/solver_settings.h"

namespace eipc {

// What fills a body's surface, or cavities in it; the rest volume is that of the placement.
struct EnclosedVolumeSpec {
  bool cavities = false;            // the closed parts of the surface that face inwards, instead of all
  std::optional<SelectionBox> box;  // only the closed parts that lie in it
  Filling filling;
};

// What a coarse cage gets against its stiffness: Young's modulus times a factor, another Poisson's ratio.
struct CageCalibration {
  std::optional<double> youngs_scale;
  std::optional<double> poissons_ratio;
  bool measured() const { return !youngs_scale && !poissons_ratio; }  // to be measured
};

// Where the elastic energy of an embedded body comes from: the material in the cage's tetrahedra, or the stiffness of a fine model
// of the object condensed onto the cage (sim/meshing/condense.h).
enum class CoarseSpace { kPlain, kCondensed };

// See Slider (sim/dynamics/slider.h), whose boundary set is not given here; its axis may have any length.
struct SliderSpec {
  Slider slider;
  double mass_kg = 0;  // that moves along, beside the body's own
};

struct BoundarySetSpec {
  std::string name;
  std::vector<int32_t> vertices;
  std::optional<SelectionBox> box;
  std::optional<Pose> frame;  // default: the body's pose
  Trajectory trajectory;
  std::optional<SliderSpec> slider;
};

struct BodySpec {
  std::string name;
  BodyKind kind = BodyKind::kStatic;
  // Full-space: tets. Embedded: surface = triangles or the boundary of tets. Affine, kinematic, static: the same as embedded.
  MeshData mesh;
  // Embedded only: an authored cage, or a vertex budget for one made here.
  std::optional<MeshData> cage;
  int cage_vertices = 0;
  // Embedded only: the material of the cage; measured when it says nothing (sim/meshing/locking.h).
  std::optional<CageCalibration> calibration;
  // Shells only.
  ShellSpec shell;
  CoarseSpace coarse_space = CoarseSpace::kPlain;  // embedded only
  Pose pose;
  MaterialSpec material;
  Vec3 linear_velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();
  Vec3 external_force = Vec3::Zero();  // N, constant, world frame
  std::vector<BoundarySetSpec> boundary_sets;
  std::vector<EnclosedVolumeSpec> enclosed_volumes;
  std::optional<SliderSpec> slider;          // affine only: the whole body slides
  std::optional<PoseDriveGains> pose_drive;  // affine only: the whole body is drawn to a commanded pose
  Trajectory trajectory;                     // kinematic, or of the guide of the slider, or of the pose commanded
  // Affine only, of a body that is not the homogeneous solid in its surface: in the mesh frame, about the centre of mass.
  std::optional<MassProperties> inertia;
};

struct ContactPairSpec {
  std::string body_a, body_b;
  std::optional<bool> enabled;
  FrictionSpec friction;
};

struct HoldingSpec {
  std::string body;
  double start_s = 0;
  double end_s = 0;
};

// See Goal (sim/dynamics/goal.h). Bodies by name; empty `relative_to`: the world.
struct GoalSpec {
  std::string name;
  std::string body;
  std::string relative_to;
  std::optional<GoalMeasure> measure;  // none: not given, which CheckScene refuses
  double tolerance = 0;
  std::optional<double> from_s;
};

struct SceneSpec {
  std::string name;
  Vec3 gravity = Vec3(0, 0, -9.81);
  std::vector<BodySpec> bodies;
  std::vector<JointSpec> joints;
  bool start_in_equilibrium = false;
  ContactSettings contact;
  FrictionSpec friction;
  bool self_contact = true;
  bool rigid_contact = true;
  std::vector<ContactPairSpec> contact_pairs;
  SolverSettings solver;  // tolerance 0: scaled to the scene (DefaultTolerance)
  DynamicsSettings dynamics;
  double schedule_duration_s = 0;
  double schedule_dt_s = 0;
  std::optional<HoldingSpec> holding;
  std::vector<GoalSpec> goals;
};

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_SCENE_SPEC_H_
