#ifndef EIPC_SIM_ROBOT_ROBOT_H_
#define EIPC_SIM_ROBOT_ROBOT_H_

// A robot as its description has it: a tree of links and joints. SI units, radians.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// Of a link, in the link's frame.
struct LinkInertia {
  double mass_kg = 0;
  Pose frame;                   // origin: the centre of mass
  Mat3 inertia = Mat3::Zero();  // about the centre of mass, in that frame, kg m^2
};

struct BoxShape {
  Vec3 size;  // m
};
struct SphereShape {
  double radius;  // m
};
// Around z, its centre at the origin.
struct CylinderShape {
  double radius;  // m
  double length;  // m
};
// As a cylinder, closed by half spheres of its radius.
struct CapsuleShape {
  double radius;  // m
  double length;  // m, of the cylinder
};
struct EllipsoidShape {
  Vec3 radii;  // m
};
struct MeshShape {
  std::string reference;  // as the description has it
  std::string file;       // where that led
  Vec3 scale = Vec3::Ones();
  int64_t vertices = 0;
  int64_t triangles = 0;
  int64_t tets = 0;
};

struct CollisionShape {
  std::string name;
  Pose pose;  // in the link's frame
  std::variant<BoxShape, SphereShape, CylinderShape, CapsuleShape, EllipsoidShape, MeshShape> shape;
};

struct Link {
  std::string name;
  std::optional<LinkInertia> inertia;
  std::vector<CollisionShape> collision;
};

// kContinuous: revolute without limits of its angle.
enum class JointType { kFixed, kRevolute, kContinuous, kPrismatic };

// Of a coordinate: rad and N m about an axis, m and N along one. Infinite where nothing is limited.
struct JointLimits {
  double lower = 0;
  double upper = 0;
  double effort = 0;
  double speed = 0;
};

// The coordinate of a joint that follows another one: multiplier * other + offset.
struct Mimic {
  int32_t joint = 0;  // one that follows none
  double multiplier = 1;
  double offset = 0;
};

// Moves the frame of link `child` against that of link `parent`: at coordinate 0 the child's frame has the pose `origin` in the
// parent's, and the coordinate turns it about `axis`, or shifts it along.
struct RobotJoint {
  std::string name;
  JointType type = JointType::kFixed;
  int32_t parent = 0;
  int32_t child = 0;
  Pose origin;
  Vec3 axis = Vec3::UnitX();  // unit vector in the joint's frame
  JointLimits limits;
  double damping = 0;      // N m s/rad or N s/m
  double friction = 0;     // N m or N
  double spring = 0;       // N m/rad or N/m
  double spring_rest = 0;  // coordinate where the spring is at rest
  std::optional<Mimic> mimic;

  bool moves() const { return type != JointType::kFixed; }
};

// Links and joints are sorted so that parents come before their children, depth first in the order of the description: joint j has
// link j + 1 as its child, and link 0 is the root.
struct Robot {
  std::string name;
  std::vector<Link> links;
  std::vector<RobotJoint> joints;
};

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_ROBOT_H_
