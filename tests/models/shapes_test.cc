#include "models/shapes.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

TEST(Shapes, EllipsoidValueIsADistanceNearTheSurface) {
  const Ellipsoid e = {Vec3(1, 2, 3), Vec3(0.1, 0.2, 0.3)};
  EXPECT_NEAR(EllipsoidValue(e, Vec3(1.1, 2, 3)), 0, 1e-15);
  EXPECT_NEAR(EllipsoidValue(e, Vec3(1, 2, 3.301)), 0.001, 1e-4);
  EXPECT_NEAR(EllipsoidValue(e, Vec3(1, 1.801, 3)), -0.001, 1e-4);
  EXPECT_LT(EllipsoidValue(e, e.center), 0);
}

TEST(Shapes, TeddyIsInsideItsSizeAndMirrorSymmetric) {
  EXPECT_LT(TeddyValue(Vec3(0, 0, 0.05)), 0);
  EXPECT_LT(TeddyValue(Vec3(0, 0, 0.11)), 0);
  EXPECT_GT(TeddyValue(Vec3(0, 0, 0)), 0);
  EXPECT_GT(TeddyValue(Vec3(0, 0.0535, 0.066)), 0);
  EXPECT_GT(TeddyValue(Vec3(0, 0, 0.16)), 0);
  EXPECT_NEAR(TeddyValue(Vec3(0.02, 0.04, 0.07)), TeddyValue(Vec3(0.02, -0.04, 0.07)), 1e-15);
}

TEST(Shapes, BubbleHasAFlatBack) {
  EXPECT_LT(BubbleValue(Vec3(0, 0, -0.01)), 0);
  EXPECT_GT(BubbleValue(Vec3(0, 0, 0.001)), 0);
  EXPECT_NEAR(BubbleValue(Vec3(0, 0, 0)), 0, 1e-12);
  EXPECT_NEAR(BubbleValue(Vec3(0, 0, -0.037)), 0, 1e-12);
}

}  // namespace
}  // namespace eipc
