#include "sim/dynamics/trajectory.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

Quat AboutZ(double angle) { return Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ())); }

TEST(Trajectory, InterpolatesBetweenKeysAndHoldsOutside) {
  Trajectory trajectory;
  EXPECT_TRUE(trajectory.empty());
  trajectory.keys = {{1, {{0, 0, 0}, AboutZ(0)}}, {3, {{2, 4, 0}, AboutZ(1)}}, {4, {{2, 4, 8}, AboutZ(1)}}};
  EXPECT_FALSE(trajectory.empty());
  struct {
    double time;
    Vec3 position;
    double angle;
  } cases[] = {{-5, {0, 0, 0}, 0},  {1, {0, 0, 0}, 0}, {1.5, {0.5, 1, 0}, 0.25}, {3, {2, 4, 0}, 1},
               {3.5, {2, 4, 4}, 1}, {4, {2, 4, 8}, 1}, {100, {2, 4, 8}, 1}};
  for (const auto& c : cases) {
    const Pose pose = trajectory.At(c.time);
    EXPECT_LT((pose.position - c.position).norm(), 1e-15) << c.time;
    EXPECT_LT(pose.rotation.angularDistance(AboutZ(c.angle)), 1e-7) << c.time;
  }
}

TEST(Trajectory, OneKeyIsAPlace) {
  Trajectory trajectory;
  trajectory.keys = {{2, {{1, 2, 3}, AboutZ(0.3)}}};
  for (double t : {0.0, 2.0, 9.0}) EXPECT_EQ(trajectory.At(t).position, Vec3(1, 2, 3));
}

TEST(Trajectory, TurnsTheShortWay) {
  Trajectory trajectory;
  Quat end = AboutZ(0.4);
  end.coeffs() *= -1;  // the same rotation
  trajectory.keys = {{0, {Vec3::Zero(), AboutZ(0)}}, {1, {Vec3::Zero(), end}}};
  EXPECT_LT(trajectory.At(0.5).rotation.angularDistance(AboutZ(0.2)), 1e-7);
}

}  // namespace
}  // namespace eipc
