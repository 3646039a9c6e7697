#ifndef EIPC_SIM_DYNAMICS_JOINT_H_
#define EIPC_SIM_DYNAMICS_JOINT_H_

#include <optional>
#include <string>
#include <vector>

#include "sim/base/types.h"
#include "sim/energy/joint_coordinate.h"
#include "sim/energy/joint_law.h"
#include "sim/energy/tie.h"

namespace eipc {

// What a joint leaves free: nothing, turns about a point, turns about an axis, travel along an axis, all but the length of a
// spring; an attachment holds a set of vertices.
enum class JointKind { kWeld, kBall, kHinge, kSlider, kSpring, kAttachment };

// Why bodies that a joint connects do not touch each other.
enum class JointContact { kOn, kOffByScene, kOffByOverlap };

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
  double guide_stiffness = 0;  // of a slider across its axis, N/m
  LinearVector point;          // of body_a: where the moment is taken
  // Where body_a and body_b turn against each other: points of them. Not of springs.
  std::optional<LinearVector> pivot_a, pivot_b;
  JointContact contact = JointContact::kOn;

  // The energy of its coordinate is needed: it acts, or guides.
  bool CoordinateActs() const { return coordinate && (law.acts() || guide_stiffness > 0); }
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_JOINT_H_
