#include "sim/dynamics/contact_frames.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/scenes.h"

namespace eipc {
namespace {

// Boxes of 1 and 3 kg, a driven one and a sheet that stands still.
class ContactFramesTest : public ::testing::Test {
 protected:
  enum Bodies { kLight, kHeavy, kDriven, kSheet };

  void SetUp() override {
    SceneSpec scene = testing::EmptyScene();
    scene.bodies = {testing::AffineBox("light", Vec3::Constant(0.1), testing::StiffMaterial(1000, 1e7)),
                    testing::AffineBox("heavy", Vec3::Constant(0.1), testing::StiffMaterial(3000, 1e7)),
                    testing::KinematicBox("driven", Vec3::Constant(0.1)), testing::StaticSheet("sheet", 0.1)};
    for (int b = 0; b < 4; ++b) scene.bodies[b].pose.position.x() = b;
    model_ = *testing::Compile(scene);
    map_.emplace(&model_.embedding, &model_.surface_offset);
    fixed_.assign(model_.node_count, 0);
    const IndexRange& driven = model_.bodies[kDriven].nodes;
    for (int32_t n = driven.begin; n < driven.end; ++n) fixed_[n] = 1;
    frames_.emplace(&model_, &*map_);
    frames_->SetFixed(&fixed_);
    v_.setZero(3 * model_.node_count);
  }

  void Move(int body, const Vec3& velocity) {
    const IndexRange& nodes = model_.bodies[body].nodes;
    for (int32_t n = nodes.begin; n < nodes.end; ++n) v_.segment<3>(3 * n) = velocity;
  }
  // A vertex of `a` on a triangle of `b`.
  void Touch(int a, int b, const Vec3& normal, double force = 1) {
    const int32_t first = model_.bodies[a].vertices.begin, other = model_.bodies[b].vertices.begin;
    ContactStencil s = {};
    s.v = {first, other, other + 1, other + 2};
    s.body_a = a, s.body_b = b;
    s.closest.w = {1, -0.25, -0.25, -0.5};
    s.closest.e = 1e-3 * normal.normalized();
    frames_->Add(s, force);
  }
  Vec3 Frame(int body) {
    frames_->Find(v_);
    return frames_->Velocity(body);
  }

  Model model_;
  std::optional<SurfaceMap> map_;
  std::vector<uint8_t> fixed_;
  std::optional<ContactFrames> frames_;
  VecX v_;
};

// K = 20 max m, with no other mass: what one normal leaves of a mass m is m / (K + m).
double Whole(double mass, double heaviest) { return 20 * heaviest / (20 * heaviest + mass); }
constexpr double kWhole = 20.0 / 21;  // of the heaviest

TEST_F(ContactFramesTest, WhatLandsKeepsItsSlideAndLosesItsFall) {
  Move(kLight, Vec3(30, 0, -3));
  Touch(kLight, kSheet, Vec3::UnitZ());
  EXPECT_LT((Frame(kLight) - Vec3(30, 0, -3 * (1 - kWhole))).norm(), 1e-9);
  EXPECT_NEAR(frames_->FreeMass(kLight), 1, 1e-12);
}

TEST_F(ContactFramesTest, ADrivenSurfacesSlideIsNothingButItsPush) {
  Move(kDriven, Vec3(100, 0, 2));
  Touch(kLight, kDriven, Vec3::UnitZ());
  EXPECT_LT((Frame(kLight) - Vec3(0, 0, 2 * kWhole)).norm(), 1e-12);
  double fastest = 0;
  frames_->ForEachDriven([&](int32_t body, double speed) {
    EXPECT_EQ(body, kLight);
    fastest = std::max(fastest, speed);
  });
  EXPECT_NEAR(fastest, 2 * (1 - kWhole), 1e-12);
}

// In a corner of a wall that stands and a conveyor, the conveyor's slide along the wall's normal is none of the wall's, whatever
// the forces are.
TEST_F(ContactFramesTest, EachNormalHasTheVelocityOfWhatTouchesThere) {
  Move(kLight, Vec3(-3, 0, -3));
  Move(kDriven, Vec3(100, 0, 0));
  Touch(kLight, kSheet, Vec3::UnitX());
  Touch(kLight, kDriven, Vec3::UnitZ());
  EXPECT_LT((Frame(kLight) - (1 - kWhole) * Vec3(-3, 0, -3)).norm(), 1e-9);
}

// What two free bodies can lose is the energy of their approach, with the reduced mass, however they fly or slide on each other.
TEST_F(ContactFramesTest, FreeBodiesMeetInTheFrameOfTheirMassCentre) {
  const Vec3 flight(0, 50, 20);
  Move(kLight, flight + Vec3(15, 0, -2));
  Move(kHeavy, flight + Vec3(-15, 0, 2));
  Touch(kLight, kHeavy, Vec3::UnitZ());
  const Vec3 light = Frame(kLight), heavy = frames_->Velocity(kHeavy);
  const double closed = 4 * Whole(0.75, 3);  // the reduced mass
  EXPECT_LT((light - flight - Vec3(15, 0, -2 + 0.75 * closed)).norm(), 1e-9);
  EXPECT_LT((heavy - flight - Vec3(-15, 0, 2 - 0.25 * closed)).norm(), 1e-9);
}

// What lies on what lands lands too, and heavy bodies with a light one between them meet.
TEST_F(ContactFramesTest, AnApproachGoesThroughWhatIsBetween) {
  Move(kLight, Vec3(0, 0, -3));
  Move(kHeavy, Vec3(0, 0, -3));
  Touch(kLight, kSheet, Vec3::UnitZ());
  Touch(kHeavy, kLight, Vec3::UnitZ());
  EXPECT_NEAR(Frame(kHeavy).z(), 0, 0.5);
  EXPECT_NEAR(frames_->Velocity(kLight).z(), 0, 0.5);
}

// What a joint holds to what lands, lands; and flies on sideways with it. A drive of the joint may move it otherwise.
TEST_F(ContactFramesTest, WhatAJointHoldsLandsWithIt) {
  Move(kLight, Vec3(4, 0, -3));
  Move(kHeavy, Vec3(4, 0, -3));
  Touch(kLight, kSheet, Vec3::UnitZ());
  EXPECT_NEAR(Frame(kLight).z(), 0, 0.5);
  EXPECT_FALSE(frames_->Touches(kHeavy));
  for (const bool driven : {false, true}) {
    Joint weld;
    weld.body_a = kHeavy, weld.body_b = kLight;
    if (driven) weld.drive.emplace();
    model_.joints = {weld};
    EXPECT_NEAR(Frame(kLight).z(), 0, 0.5);
    EXPECT_EQ(frames_->Touches(kHeavy), !driven);
    if (driven) continue;
    EXPECT_NEAR(frames_->Velocity(kHeavy).z(), 0, 0.7);
    EXPECT_NEAR(frames_->Velocity(kHeavy).x(), 4, 1e-9);
  }
}

// Normals that scatter by ten degrees do not resist a slide; those of a ball in a socket do.
TEST_F(ContactFramesTest, ScatteredNormalsDoNotResistASlide) {
  Move(kHeavy, Vec3(30, 0, 0));
  for (const double tilt : {-0.17, 0.17}) Touch(kHeavy, kSheet, Vec3(std::sin(tilt), 0, std::cos(tilt)));
  EXPECT_NEAR(Frame(kHeavy).x(), 30, 1e-9);
  frames_->Clear();
  for (const double tilt : {-1.0, 1.0}) Touch(kHeavy, kSheet, Vec3(std::sin(tilt), 0, std::cos(tilt)));
  EXPECT_NEAR(Frame(kHeavy).x(), 0, 0.06 * 30);
}

// Two fingers that close on it from both sides drive it with their speed.
TEST_F(ContactFramesTest, FingersDriveWhatTheyCloseOn) {
  Move(kDriven, Vec3(0, 0, 1));
  Touch(kLight, kDriven, Vec3::UnitZ());
  Touch(kLight, kSheet, -Vec3::UnitZ());
  double fastest = 0;
  EXPECT_NEAR(Frame(kLight).z(), 0.5 * kWhole, 1e-9);
  frames_->ForEachDriven([&](int32_t, double speed) { fastest = std::max(fastest, speed); });
  EXPECT_NEAR(fastest, 1 - 0.5 * kWhole, 1e-9);
}

TEST_F(ContactFramesTest, SidesThatAreHeldAreNotFree) {
  ContactStencil s = {};
  s.v[0] = model_.bodies[kDriven].vertices.begin;
  s.v[1] = s.v[2] = s.v[3] = model_.bodies[kLight].vertices.begin;
  s.closest.w = {1, -0.25, -0.25, -0.5};
  EXPECT_FALSE(frames_->IsFree(s, 1));
  EXPECT_TRUE(frames_->IsFree(s, -1));
}

}  // namespace
}  // namespace eipc
