#ifndef EIPC_SIM_SCENE_JOINT_SPEC_H_
#define EIPC_SIM_SCENE_JOINT_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/joint.h"
#include "sim/scene/selection_box.h"

namespace eipc {

// See FollowedJoint (sim/dynamics/joint.h); the joint by name. stiffness 0: made from that of what holds the joint.
struct MimicSpec {
  std::string joint;
  MimicLaw law;
};

// What an author wrote of a joint. Points and directions are in the world, with the bodies as they are placed.
struct JointSpec {
  std::string name;
  std::string body_a, body_b;     // empty body_b: the world
  std::optional<JointKind> kind;  // none: not given, which CheckScene refuses
  Vec3 point = Vec3::Zero();
  Vec3 point_b = Vec3::Zero();          // the spring's end at body_b
  Vec3 axis = Vec3::Zero();             // of hinges and sliders, of any length but zero
  double width_m = 0;                   // between the points that hold; 0: made from the sizes of the bodies
  double stiffness_n_m = 0;             // of what holds; 0: from the masses, so that the joint opens by drift_m at most
  double drift_m = 0;                   // 0: kJointDrift
  JointLaw law;                         // stop_stiffness 0: made from that of the joint
  std::optional<double> rest_length_m;  // of a spring; none: as placed
  std::vector<int32_t> vertices;        // of an attachment: of the tetrahedral mesh of body_a
  std::optional<SelectionBox> box;      // the same
  std::optional<JointDrive> drive;      // of hinges and sliders
  std::optional<MimicSpec> mimic;       // the same
  std::optional<bool> contact;          // of the two bodies; none: on unless their surfaces overlap as placed
};

inline bool SameBodies(const JointSpec& one, const JointSpec& two) {
  return (one.body_a == two.body_a && one.body_b == two.body_b) || (one.body_a == two.body_b && one.body_b == two.body_a);
}

inline constexpr double kJointDrift = 1e-6;  // m

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_JOINT_SPEC_H_
