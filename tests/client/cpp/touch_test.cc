#include "client/cpp/touch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "client/cpp/convert.h"
#include "tests/client/cpp/client_fixture.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::client {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTilt = 0.35;  // rad
constexpr double kGravity = 9.81;

double Norm(const Vector3& v) { return std::hypot(v[0], v[1], v[2]); }

// A soft block of 1 kg on a table, gravity tilted towards x, so that the table is a slope.
v1::Scene Slope(double friction) {
  v1::Scene scene = testing::BlockOnTable();
  v1::Vec3& gravity = *scene.mutable_gravity_m_s2();
  gravity.set_x(kGravity * std::sin(kTilt));
  gravity.set_z(-kGravity * std::cos(kTilt));
  scene.mutable_contact()->set_friction_coefficient(friction);
  scene.mutable_contact()->set_track_slip(true);
  scene.mutable_solver()->set_newton_tolerance_m_s(1e-7);
  return scene;
}

class TouchTest : public ClientTest {
 protected:
  // After `steps` steps of 10 ms.
  Observation After(const v1::Scene& scene, int steps, const Observe& observe) {
    Session session = NewSession(scene);
    const auto seen = session.Step(0.01, {.observe = observe, .substeps = steps});
    EXPECT_TRUE(seen.ok()) << seen.status();
    return seen.ok() ? *seen : Observation();
  }
};

TEST_F(TouchTest, TractionsAddUpToTheWrenchAndCarryTheWeight) {
  const Observation seen = After(Slope(0.5), 80, {.surface_positions = true, .contact_wrenches = true, .contact_tractions = true});
  const BodyState* block = seen.Find("block");
  ASSERT_NE(block, nullptr);
  ASSERT_TRUE(block->contact_tractions.has_value());
  const ContactTractions& on = *block->contact_tractions;
  ASSERT_THAT(on.vertices, SizeIs(4));  // the block's lower corners
  const Vector3 total = on.TotalForceN(), wrench = seen.ContactForceOn("block");
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(total[i], wrench[i], 1e-6 * Norm(wrench));
  EXPECT_NEAR(total[2], kGravity * std::cos(kTilt), 0.02 * kGravity);   // 1 kg
  EXPECT_NEAR(total[0], -kGravity * std::sin(kTilt), 0.02 * kGravity);  // friction holds it
  double area = 0, force = 0;
  for (size_t row = 0; row < on.vertices.size(); ++row) {
    EXPECT_NEAR(on.Normal(row)[2], 1, 1e-6);
    EXPECT_NEAR(on.TractionPa(row)[0], on.FrictionTractionPa(row)[0], 1e-6 * on.PressurePa(row));
    force += on.PressurePa(row) * on.area_m2[row];
    area += on.area_m2[row];
  }
  EXPECT_NEAR(force, total[2], 1e-9 * total[2]);
  EXPECT_GT(area, 0.01);  // of the lower side, 0.1 m wide, and parts of the others
  const auto spread = on.OnSurface(on.area_m2, block->surface_positions.size());
  ASSERT_TRUE(spread.ok()) << spread.status();
  ASSERT_THAT(*spread, SizeIs(8));
  for (size_t v = 0; v < spread->size(); ++v) EXPECT_EQ((*spread)[v] > 0, block->surface_positions[v][2] < 0.05) << v;
  EXPECT_EQ(on.OnSurface(on.area_m2, 3).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(on.OnSurface({}, 8).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TouchTest, SlipFollowsCoulombsLaw) {
  const double friction = 0.2;
  const Observation seen = After(Slope(friction), 60, {.slips = true});
  const PairSlip* slip = seen.FindSlip("block", "table");
  ASSERT_NE(slip, nullptr);
  EXPECT_TRUE(slip->slipping());
  EXPECT_NEAR(slip->normal_force_n, kGravity * std::cos(kTilt), 0.1 * kGravity);
  ASSERT_TRUE(slip->since_contact.has_value());
  const double acceleration = kGravity * (std::sin(kTilt) - friction * std::cos(kTilt));
  // From a time on at which it has landed (it falls by 2 mm).
  const Observation before = After(Slope(friction), 40, {.slips = true});
  const SlideTotal *from = &*before.FindSlip("block", "table")->since_contact, *to = &*slip->since_contact;
  const double time = seen.time_s - before.time_s, v0 = before.FindSlip("block", "table")->velocity_m_s[0];
  EXPECT_NEAR(slip->velocity_m_s[0] - v0, acceleration * time, 0.02 * acceleration * time);
  const double distance = v0 * time + 0.5 * acceleration * time * time;
  EXPECT_NEAR(to->displacement_m[0] - from->displacement_m[0], distance, 0.02 * distance);
  EXPECT_NEAR(slip->since_contact->path_m, slip->since_contact->displacement_m[0], 1e-3 * slip->since_contact->path_m);
  EXPECT_GT(slip->since_contact->begun_s, 0);
  const PairSlip* other = seen.FindSlip("table", "block");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->velocity_m_s[0], -slip->velocity_m_s[0]);
  EXPECT_EQ(other->since_contact->displacement_m[0], -slip->since_contact->displacement_m[0]);
  EXPECT_EQ(other->sticking, slip->sticking);
  EXPECT_EQ(seen.FindSlip("block", "sofa"), nullptr);
  const PairSlip held = *After(Slope(0.6), 60, {.slips = true}).FindSlip("block", "table");
  EXPECT_FALSE(held.slipping());
  EXPECT_LT(std::abs(held.velocity_m_s[0]), 1e-4);
}

TEST_F(TouchTest, WhatWasNotAskedForIsAbsent) {
  const Observation seen = After(Slope(0.5), 20, {});
  EXPECT_TRUE(seen.slips.empty());
  EXPECT_FALSE(seen.bodies[0].contact_tractions.has_value());
  EXPECT_TRUE(seen.bodies[0].von_mises_pa.empty());
}

// A column of one cell that is stretched by its driven top: rows of six tetrahedra.
TEST_F(TouchTest, StressesOfAStretchedBlockPeak) {
  v1::Scene scene = testing::DrivenBlock();
  v1::BoundarySet& bottom = *scene.mutable_bodies(0)->add_boundary_sets();
  bottom.set_name("bottom");
  for (const int vertex : {0, 1, 2, 3}) bottom.add_vertices(vertex);
  SceneSource source = *SceneSource::FromText("");
  source.message() = scene;
  Session session = *client_.CreateSession(client_.CreateScene(source)->name);
  const auto start = session.GetState({.boundary_poses = true});
  ASSERT_TRUE(start.ok()) << start.status();
  PeakStress peak;
  EXPECT_EQ(peak.Add(*start).code(), absl::StatusCode::kInvalidArgument);
  const auto top = std::find_if(start->boundary_poses.begin(), start->boundary_poses.end(),
                                [](const BoundaryPose& pose) { return pose.boundary_set == "top"; });
  ASSERT_NE(top, start->boundary_poses.end());
  std::vector<double> most;
  for (const double stretch : {1e-4, 1e-3, 2e-4}) {
    StepOptions options = {.targets = {{"block", "top", top->achieved}}, .observe = {.stresses = true}};
    options.targets[0].pose.position_m[2] += stretch;
    const auto seen = session.Step(0.1, options);
    ASSERT_TRUE(seen.ok()) << seen.status();
    ASSERT_TRUE(peak.Add(*seen).ok());
    const std::vector<double>& stress = seen->Find("block")->von_mises_pa;
    ASSERT_THAT(stress, SizeIs(6));
    // All corners are held, so the strain is uniaxial: the stresses differ by 2 mu times the strain, E = 1e5 Pa, nu = 0.4.
    for (const double s : stress) EXPECT_NEAR(s, 1e5 / 1.4 * stretch / 0.1, 0.03 * 1e5 / 1.4 * stretch / 0.1);
    if (stretch == 1e-3) most = stress;
  }
  EXPECT_EQ(peak.von_mises_pa().at("block"), most);
  EXPECT_THAT(*peak.Damaged("block", 500), ElementsAre(true, true, true, true, true, true));
  EXPECT_THAT(*peak.Damaged("block", 1000), ElementsAre(false, false, false, false, false, false));
  EXPECT_EQ(peak.Damaged("sofa", 1).status().code(), absl::StatusCode::kNotFound);
}

TEST(TouchConversionTest, ArraysThatDoNotFitAreDataLoss) {
  v1::Observation message;
  v1::ContactTractions& tractions = *message.add_bodies()->mutable_contact_tractions();
  const int32_t vertex = 7;
  const float area = 0.5f;
  const double force[3] = {1, 2, 3};
  const auto fill = [](v1::DataType type, const void* data, size_t bytes, v1::NdArray* out) {
    out->set_dtype(type);
    out->add_shape(1);
    out->set_data(std::string(static_cast<const char*>(data), bytes));
  };
  fill(v1::INT32, &vertex, sizeof vertex, tractions.mutable_vertices());
  fill(v1::FLOAT32, &area, sizeof area, tractions.mutable_area_m2());
  fill(v1::FLOAT64, force, sizeof force, tractions.mutable_normal_force_n());
  tractions.mutable_normal_force_n()->add_shape(3);
  *tractions.mutable_friction_force_n() = tractions.normal_force_n();
  const auto sound = ObservationFromProto(message);
  ASSERT_TRUE(sound.ok()) << sound.status();
  const ContactTractions& read = *sound->bodies[0].contact_tractions;
  EXPECT_THAT(read.vertices, ElementsAre(7));
  EXPECT_THAT(read.ForceN(0), ElementsAre(2, 4, 6));
  EXPECT_THAT(read.TractionPa(0), ElementsAre(4, 8, 12));
  EXPECT_TRUE(read.slip_velocity_m_s.empty());  // an earlier server does not say
  *tractions.mutable_slip_velocity_m_s() = tractions.normal_force_n();
  const auto with_slip = ObservationFromProto(message);
  ASSERT_TRUE(with_slip.ok()) << with_slip.status();
  EXPECT_THAT(with_slip->bodies[0].contact_tractions->slip_velocity_m_s.flat(), ElementsAre(1, 2, 3));
  const auto refused = [&](auto change) {
    v1::Observation changed = message;
    change(changed.mutable_bodies(0));
    return ObservationFromProto(changed).status().code() == absl::StatusCode::kDataLoss;
  };
  EXPECT_TRUE(refused([](auto* body) { body->mutable_contact_tractions()->clear_area_m2(); }));
  EXPECT_TRUE(refused([](auto* body) { body->mutable_contact_tractions()->mutable_vertices()->set_dtype(v1::FLOAT32); }));
  EXPECT_TRUE(refused([](auto* body) { body->mutable_contact_tractions()->mutable_vertices()->set_shape(0, 2); }));
  EXPECT_TRUE(refused([](auto* body) { body->mutable_contact_tractions()->mutable_friction_force_n()->set_shape(1, 2); }));
  EXPECT_TRUE(refused([](auto* body) { body->mutable_contact_tractions()->mutable_area_m2()->set_data("abc"); }));
  EXPECT_TRUE(refused([](auto* body) { body->mutable_contact_tractions()->mutable_slip_velocity_m_s()->set_data(""); }));
  EXPECT_TRUE(refused([](auto* body) { body->mutable_contact_tractions()->mutable_slip_velocity_m_s()->clear_shape(); }));
  EXPECT_TRUE(refused([&](auto* body) { fill(v1::INT32, &vertex, sizeof vertex, body->mutable_von_mises_pa()); }));
}

TEST(TouchConversionTest, InfiniteStressIsDamage) {
  Observation observation;
  BodyState body;
  body.name = "block";
  body.von_mises_pa = {kInfinity, 1};
  observation.bodies = {body};
  PeakStress peak;
  ASSERT_TRUE(peak.Add(observation).ok());
  EXPECT_THAT(*peak.Damaged("block", 1e300), ElementsAre(true, false));
  observation.bodies[0].von_mises_pa = {1};
  EXPECT_EQ(peak.Add(observation).code(), absl::StatusCode::kInvalidArgument);
}

// Two fingers press on each other and one on a wall: a hand of both feels the wall alone.
TEST(HandTest, ForcesAndMomentsOfSeveralBodies) {
  Observation observation;
  for (const char* name : {"left", "right"}) {
    BodyState body;
    body.name = name;
    body.pose.position_m = {0, body.name == "left" ? 1.0 : -1.0, 0};
    observation.bodies.push_back(body);
  }
  const auto add = [&](const char* body, const char* other, Vector3 force, Vector3 moment) {
    observation.contact_wrenches.push_back({body, other, force, {0, 0, 1}, moment, {0, 0, 0}});
  };
  add("left", "right", {0, 5, 0}, {0, 0, 0});
  add("right", "left", {0, -5, 0}, {0, 0, 0});
  add("left", "wall", {2, 0, 0}, {0, 0.5, 0});
  EXPECT_THAT(observation.ContactForceOnHand({"left", "right"}), ElementsAre(2, 0, 1));
  EXPECT_THAT(observation.ContactForceOn("left"), ElementsAre(2, 5, 2));
  // About (0, 0, 1): arm (0, 1, -1) crossed with (2, 0, 1), and (0, 0.5, 0).
  EXPECT_THAT(*observation.ContactMomentOnHand({"left", "right"}, {0, 0, 1}), ElementsAre(1, -1.5, -2));
  EXPECT_EQ(observation.ContactMomentOnHand({"thumb"}, {0, 0, 0}).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace eipc::client
