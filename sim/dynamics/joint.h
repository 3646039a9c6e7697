#ifndef EIPC_SIM_DYNAMICS_JOINT_H_
#define EIPC_SIM_DYNAMICS_JOINT_H_

#include <optional>
#include <string>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/drive_gains.h"
#include "sim/dynamics/slider.h"
#include "sim/energy/joint_coordinate.h"
#include "sim/energy/joint_law.h"
#include "sim/energy/mimic.h"
#include "sim/energy/tie.h"

namespace eipc {

// What a joint leaves free: nothing, turns about a point, turns about an axis, travel along an axis, all but the length of a
// spring; an attachment holds a set of vertices.
enum class JointKind { kWeld, kBall, kHinge, kSlider, kSpring, kAttachment };

// Why bodies that a joint connects do not touch each other.
enum class JointContact { kOn, kOffByScene, kOffByOverlap };

// A motor along the coordinate of a hinge or slider.
struct JointDrive {
  DriveGains gains;
  double max_acceleration = 0;  // of the setpoint; 0: unlimited
  DriveMotion motion;           // until a client commands; empty: position 0
  double lever = 1;             // m, from the coordinate's rate to the speed below which something counts as still
};

// The coordinate follows that of another joint.
struct FollowedJoint {
  int32_t joint = 0;  // index in Model::joints; follows none
  MimicLaw law;
};

// Two bodies that energies of the implicit solve hold together, or a body and the world.
struct Joint {
  std::string name;
  JointKind kind = JointKind::kWeld;
  int32_t body_a = 0;
  int32_t body_b = -1;  // -1: the world
  std::vector<Tie> ties;
  // Of hinges, sliders and springs: zero at the start, but for a spring, whose length it is.
  std::optional<JointCoordinate> coordinate;
  JointLaw law;
  std::optional<JointDrive> drive;
  std::optional<FollowedJoint> mimic;
  double guide_stiffness = 0;  // of a slider across its axis, N/m
  double held_stiffness = 0;   // that what holds it would have along its coordinate, of hinges and sliders: N m/rad or N/m
  LinearVector point;          // of body_a: where the moment is taken
  // Where body_a and body_b turn against each other: points of them. Not of springs.
  std::optional<LinearVector> pivot_a, pivot_b;
  JointContact contact = JointContact::kOn;

  // The energy of its coordinate is needed: it acts, or guides.
  bool CoordinateActs() const { return coordinate && (law.acts() || guide_stiffness > 0 || drive); }
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_JOINT_H_
