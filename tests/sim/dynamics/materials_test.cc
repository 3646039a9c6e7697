#include "sim/dynamics/materials.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sim/dynamics/placement.h"
#include "sim/dynamics/state_codec.h"
#include "sim/dynamics/world.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr int kSoft = 0, kCage = 1, kStiff = 2, kTable = 3;
constexpr double kStep = 0.01;

// A soft block, a condensed cage and an affine box, which fall onto a table.
SceneSpec Boxes() {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.3, &StableNeoHookean::kDescriptor);
  scene.bodies = {testing::FullSpaceBox("soft", Vec3(0.1, 0.06, 0.05), {2, 2, 2}, soft),
                  testing::EmbeddedBox("cage", Vec3(0.08, 0.08, 0.08), {1, 1, 1}, soft),
                  testing::AffineBox("stiff", Vec3(0.04, 0.04, 0.04), testing::StiffMaterial(800, 1e6)),
                  testing::StaticBox("table", Vec3(1, 1, 0.1))};
  scene.bodies[kCage].coarse_space = CoarseSpace::kCondensed;
  for (const int body : {kSoft, kCage, kStiff}) scene.bodies[body].pose.position = Vec3(0.2 * body, 0, 0.06);
  scene.bodies[kTable].pose.position = Vec3(0, 0, -0.05);
  return scene;
}

State::BodyMaterial Changed(const Model& model, int32_t body, double youngs, double poissons, double density) {
  State::BodyMaterial material = MaterialOfScene(model, body);
  if (youngs > 0) material.youngs_modulus_pa = youngs;
  if (poissons > 0) material.poissons_ratio = poissons;
  if (density > 0) material.density_kg_m3 = density;
  return material;
}

State StartWith(const Model& model, std::vector<State::BodyMaterial> materials, std::vector<MaterialRange> ranges = {},
                uint64_t seed = 0) {
  StartOrder order;
  order.materials = std::move(materials);
  order.material_ranges = std::move(ranges);
  order.seed = seed;
  StartDraws draws(&model, order);
  std::optional<State> start = draws.Next();
  EXPECT_TRUE(start.has_value());
  return start ? *std::move(start) : InitialState(model);
}

// The greatest distance of a node in one world from where it is in the other, after the same steps.
double Apart(World* a, World* b, int steps) {
  testing::RunSteps(a, steps, kStep);
  testing::RunSteps(b, steps, kStep);
  return (a->state().q - b->state().q).cwiseAbs().maxCoeff();
}

TEST(Materials, ModuliOfAResetAreThoseOfAScene) {
  SceneSpec scene = Boxes();
  const auto model = testing::Compile(scene);
  World drawn(model);
  ASSERT_TRUE(drawn
                  .Restore(StartWith(*model, {Changed(*model, kSoft, 2e4, 0.45, 0), Changed(*model, kCage, 2e5, 0, 0),
                                              Changed(*model, kStiff, 3e6, 0, 0)}))
                  .ok());
  scene.bodies[kSoft].material.youngs_modulus_pa = 2e4;
  scene.bodies[kSoft].material.poissons_ratio = 0.45;
  scene.bodies[kStiff].material.youngs_modulus_pa = 3e6;
  scene.bodies[kCage].material.youngs_modulus_pa = 2e5;
  World compiled(testing::Compile(scene));
  // What is condensed anew differs in its last digits.
  EXPECT_LT(Apart(&drawn, &compiled, 40), 1e-8);
  World plain(model);
  testing::RunSteps(&plain, 40, kStep);
  EXPECT_GT((plain.state().q - drawn.state().q).cwiseAbs().maxCoeff(), 1e-4) << "the materials matter here";
}

TEST(Materials, ModuliOfAFullSpaceBodyGiveTheSameBits) {
  SceneSpec scene = Boxes();
  scene.bodies = {scene.bodies[kSoft], scene.bodies[kTable]};
  const auto model = testing::Compile(scene);
  World drawn(model);
  ASSERT_TRUE(drawn.Restore(StartWith(*model, {Changed(*model, 0, 2e4, 0.45, 0)})).ok());
  scene.bodies[0].material.youngs_modulus_pa = 2e4;
  scene.bodies[0].material.poissons_ratio = 0.45;
  World compiled(testing::Compile(scene));
  EXPECT_EQ(Apart(&drawn, &compiled, 40), 0);
}

TEST(Materials, ADensityOfAResetIsThatOfAScene) {
  SceneSpec scene = Boxes();
  const auto model = testing::Compile(scene);
  World drawn(model);
  const std::vector<State::BodyMaterial> heavier = {Changed(*model, kSoft, 0, 0, 900), Changed(*model, kCage, 0, 0, 250),
                                                    Changed(*model, kStiff, 0, 0, 2400)};
  ASSERT_TRUE(drawn.Restore(StartWith(*model, heavier)).ok());
  for (const int body : {kSoft, kCage, kStiff}) scene.bodies[body].material.density_kg_m3 = heavier[body].density_kg_m3;
  const auto compiled_model = testing::Compile(scene);
  World compiled(compiled_model);
  EXPECT_NEAR(drawn.state().barrier_stiffness, compiled.state().barrier_stiffness, 1e-9 * compiled.state().barrier_stiffness);
  for (const int body : {kSoft, kCage, kStiff}) {
    const MassProperties &a = drawn.model().bodies[body].mass, &b = compiled_model->bodies[body].mass;
    EXPECT_NEAR(a.mass, b.mass, 1e-12 * b.mass);
    EXPECT_LT((a.inertia - b.inertia).norm(), 1e-12 * b.inertia.norm());
    EXPECT_EQ(MassesWith(*model, {heavier[body]})[body], a.mass);
  }
  EXPECT_LT(Apart(&drawn, &compiled, 40), 1e-8);
}

// Its density is that of its mesh on average; the centre stays where the scene has it, and mass and moments are scaled together.
TEST(Materials, ADensityScalesTheMassThatTheSceneGives) {
  SceneSpec scene = Boxes();
  const MassProperties given = {0.1, Vec3(0.005, -0.003, 0.002), Vec3(2e-5, 3e-5, 4e-5).asDiagonal()};
  scene.bodies[kStiff].inertia = given;
  scene.bodies[kStiff].angular_velocity = Vec3(3, 2, 1);
  const auto model = testing::Compile(scene);
  const double of_scene = MaterialOfScene(*model, kStiff).density_kg_m3;
  EXPECT_NEAR(of_scene, 0.1 / (0.04 * 0.04 * 0.04), 1e-9 * of_scene);
  World drawn(model);
  ASSERT_TRUE(drawn.Restore(StartWith(*model, {Changed(*model, kStiff, 0, 0, 2.5 * of_scene)})).ok());
  scene.bodies[kStiff].inertia = MassProperties{2.5 * given.mass, given.center_of_mass, 2.5 * given.inertia};
  const auto compiled_model = testing::Compile(scene);
  const MassProperties &a = drawn.model().bodies[kStiff].mass, &b = compiled_model->bodies[kStiff].mass;
  EXPECT_NEAR(a.mass, b.mass, 1e-12);
  EXPECT_EQ(a.center_of_mass, b.center_of_mass);
  EXPECT_LT((a.inertia - b.inertia).norm(), 1e-12 * b.inertia.norm());
  World compiled(compiled_model);
  EXPECT_LT(Apart(&drawn, &compiled, 40), 1e-8);
  World plain(model);
  testing::RunSteps(&plain, 40, kStep);
  EXPECT_GT((plain.state().q - drawn.state().q).cwiseAbs().maxCoeff(), 1e-6) << "the mass matters here";
}

TEST(Materials, FrictionOfAResetScalesThePairsOfItsBody) {
  SceneSpec scene = Boxes();
  scene.friction = {.dynamic_coefficient = 0.4, .static_coefficient = 0.6, .viscous_s_m = 0.1};
  const auto model = testing::Compile(scene);
  const auto with_factor = [&](int body, double factor) {
    State::BodyMaterial material = MaterialOfScene(*model, body);
    material.friction_factor = factor;
    return material;
  };
  const auto changed = WithMaterials(*model, {with_factor(kSoft, 0.5), with_factor(kStiff, 4)});
  for (int a = 0; a <= kTable; ++a) {
    for (int b = 0; b <= kTable; ++b) {
      const double factor = (a == kSoft || b == kSoft ? 0.5 : 1) * (a == kStiff || b == kStiff ? 4 : 1);
      const FrictionLaw &law = changed->friction.Law(a, b), &of_scene = model->friction.Law(a, b);
      EXPECT_EQ(law.dynamic_coefficient, factor * of_scene.dynamic_coefficient) << a << " " << b;
      EXPECT_EQ(law.static_coefficient, factor * of_scene.static_coefficient) << a << " " << b;
      EXPECT_EQ(law.viscous_s_m, factor * of_scene.viscous_s_m) << a << " " << b;
      EXPECT_EQ(law.stribeck_velocity_m_s, of_scene.stribeck_velocity_m_s) << a << " " << b;
    }
  }
}

// The whole step: a body that slides, with the friction of a reset and with that of a scene.
TEST(Materials, FrictionOfAResetGivesTheBitsOfAScene) {
  SceneSpec scene = Boxes();
  scene.bodies = {scene.bodies[kSoft], scene.bodies[kTable]};
  scene.bodies[0].linear_velocity = Vec3(0.5, 0, 0);
  scene.friction.dynamic_coefficient = 0.5;
  const auto model = testing::Compile(scene);
  State::BodyMaterial material = MaterialOfScene(*model, 0);
  World drawn(model), plain(model);
  material.friction_factor = 2;  // which the reset after it replaces
  ASSERT_TRUE(drawn.Restore(StartWith(*model, {material})).ok());
  material.friction_factor = 0.25;
  ASSERT_TRUE(drawn.Restore(StartWith(*model, {material})).ok());
  scene.friction.dynamic_coefficient = 0.125;
  World compiled(testing::Compile(scene));
  EXPECT_EQ(Apart(&drawn, &compiled, 40), 0);
  testing::RunSteps(&plain, 40, kStep);
  EXPECT_GT((plain.state().q - drawn.state().q).cwiseAbs().maxCoeff(), 1e-3) << "friction matters here";
  EXPECT_EQ(drawn.state().materials[0].friction_factor, 0.25) << "every step carries it on";
}

// A condensed stiffness is that of the modulus: it is as if it had been condensed for the new one.
TEST(Materials, ACondensedStiffnessIsScaled) {
  SceneSpec scene = Boxes();
  const auto model = testing::Compile(scene);
  const auto changed = WithMaterials(*model, {Changed(*model, kCage, 2e5, 0, 0)});
  scene.bodies[kCage].material.youngs_modulus_pa = 2e5;
  const auto compiled = testing::Compile(scene);
  const Eigen::MatrixXd scaled = SmallStrainStiffness(*changed->elastic[kCage].condensed);
  const Eigen::MatrixXd anew = SmallStrainStiffness(*compiled->elastic[kCage].condensed);
  EXPECT_LT((scaled - anew).norm(), 1e-9 * anew.norm());
  EXPECT_EQ(changed->elastic[kSoft].condensed, nullptr);
}

TEST(Materials, AStateCarriesThem) {
  const auto model = testing::Compile(Boxes());
  const State start = StartWith(*model, {Changed(*model, kSoft, 2e4, 0.4, 700), Changed(*model, kCage, 2e5, 0, 300)});
  EXPECT_NE(start.Digest(), InitialState(*model).Digest());
  State softer = start;
  softer.materials[0].youngs_modulus_pa = 1.9e4;  // and nothing else
  EXPECT_NE(softer.Digest(), start.Digest());
  World first(model);
  ASSERT_TRUE(first.Restore(start).ok());
  for (int i = 0; i < 9; ++i) {  // a world has two states, which it swaps
    testing::RunSteps(&first, 1, kStep);
    EXPECT_EQ(first.state().materials, start.materials) << i;
  }
  const auto read = DecodeState(EncodeState(first.state()), *model);
  ASSERT_TRUE(read.ok()) << read.status();
  World second(model);
  // What it did before leaves nothing, other materials neither.
  const State other = StartWith(*model, {Changed(*model, kSoft, 9e4, 0.1, 300), Changed(*model, kCage, 9e5, 0, 900)});
  ASSERT_TRUE(second.Restore(other).ok());
  testing::RunSteps(&second, 3, kStep);
  ASSERT_TRUE(second.Restore(*read).ok());
  testing::RunSteps(&first, 20, kStep);
  testing::RunSteps(&second, 20, kStep);
  EXPECT_EQ(second.state().Digest(), first.state().Digest());
}

TEST(Materials, AResetWithoutThemIsTheScenesAgain) {
  const auto model = testing::Compile(Boxes());
  World world(model), fresh(model);
  ASSERT_TRUE(world.Restore(StartWith(*model, {Changed(*model, kSoft, 2e4, 0.4, 700)})).ok());
  testing::RunSteps(&world, 5, kStep);
  world.Reset();
  EXPECT_EQ(&world.model(), model.get());
  testing::RunSteps(&world, 20, kStep);
  testing::RunSteps(&fresh, 20, kStep);
  EXPECT_EQ(world.state().Digest(), fresh.state().Digest());
}

MaterialRange Range(int32_t body, NumberRange youngs) {
  MaterialRange range;
  range.body = body;
  range.numbers[0] = youngs;
  return range;
}

TEST(Materials, DrawsFillTheirRangesBySeed) {
  const auto model = testing::Compile(Boxes());
  const std::vector<MaterialRange> ranges = {Range(kCage, {0.5, 2, false, true}), Range(kSoft, {1e4, 1e6, true, false})};
  double least = 1, most = 0, mean = 0;
  constexpr int kDraws = 400;
  for (int seed = 0; seed < kDraws; ++seed) {
    const auto drawn = StartMaterials(*model, {}, ranges, seed);
    EXPECT_EQ(drawn, StartMaterials(*model, {}, ranges, seed));
    ASSERT_EQ(drawn.size(), 2u);
    ASSERT_TRUE(MaterialsFit(drawn, *model)) << "by body, within bounds";
    EXPECT_EQ(drawn[1].poissons_ratio, 0.3) << "what has no range is the scene's";
    EXPECT_GE(drawn[1].youngs_modulus_pa, 0.5 * 5e4);
    EXPECT_LE(drawn[1].youngs_modulus_pa, 2 * 5e4);
    const double share = std::log(drawn[0].youngs_modulus_pa / 1e4) / std::log(100);
    least = std::min(least, share);
    most = std::max(most, share);
    mean += share / kDraws;
    // Alone it is drawn as among others.
    EXPECT_EQ(StartMaterials(*model, {}, {ranges[1]}, seed)[0], drawn[0]);
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 0.05);
  EXPECT_LE(most, 1);
  EXPECT_GT(most, 0.95);
  EXPECT_NEAR(mean, 0.5, 4 / std::sqrt(12.0 * kDraws));
}

TEST(Materials, DoNotChangeWhereBodiesAreDrawn) {
  const auto model = testing::Compile(Boxes());
  StartOrder order;
  PlacementRange range;
  range.body = kSoft;
  range.translation = {Vec3(-0.01, -0.01, 0), Vec3(0.01, 0.01, 0.05)};
  order.ranges = {range};
  order.seed = 3;
  const VecX without = StartDraws(model.get(), order).Next()->q;
  order.material_ranges = {Range(kSoft, {1e4, 1e6, true, false})};
  EXPECT_EQ(StartDraws(model.get(), order).Next()->q, without);
}

TEST(Materials, SayWhichNumbersAResetCannotChange) {
  SceneSpec scene = Boxes();
  scene.bodies.push_back(testing::EmbeddedBox("calibrated", Vec3(0.08, 0.08, 0.08), {1, 1, 1}, scene.bodies[kSoft].material));
  scene.bodies.back().pose.position = Vec3(0, 0.4, 0.1);
  scene.bodies.back().calibration = CageCalibration{0.5, 0.2};
  scene.bodies.push_back(testing::AffineBox("link", Vec3(0.04, 0.04, 0.04), testing::StiffMaterial(1, 1e6)));
  scene.bodies.back().pose.position = Vec3(0, -0.4, 0.1);
  scene.bodies.back().inertia = MassProperties{0.1, Vec3::Zero(), 1e-4 * Mat3::Identity()};
  const auto model = testing::Compile(scene);
  const auto& [youngs, poissons, density, friction] = kMaterialNumbers;
  const auto problem = [&](int body, const MaterialNumber& number) { return MaterialProblem(*model, body, number); };
  for (const MaterialNumber& number : kMaterialNumbers) EXPECT_EQ(problem(kSoft, number), "");
  EXPECT_EQ(problem(kCage, youngs), "");
  EXPECT_EQ(problem(kCage, density), "");
  EXPECT_NE(problem(kCage, poissons).find("condensed"), std::string::npos);
  EXPECT_NE(problem(kStiff, poissons).find("ABD_ORTHOGONALITY"), std::string::npos);
  EXPECT_NE(problem(kTable, youngs).find("is static"), std::string::npos);
  EXPECT_NE(problem(4, poissons).find("calibrated"), std::string::npos);
  EXPECT_EQ(problem(5, density), "");
  EXPECT_EQ(problem(5, youngs), "");
  EXPECT_EQ(problem(kCage, friction), "");
  EXPECT_NE(problem(kTable, friction).find("is static"), std::string::npos);
  EXPECT_FALSE(HasNumber(*model, kStiff, poissons));
  // The factor of a calibrated cage stays.
  const auto stiffer = WithMaterials(*model, {Changed(*model, 4, 1e5, 0, 0)});
  const auto* law = std::get_if<StableNeoHookean>(&stiffer->elastic[3].material);
  ASSERT_NE(law, nullptr);
  const Mat3 sheared = (Mat3() << 1, 0.1, 0, 0, 1, 0, 0, 0, 1).finished();
  EXPECT_NEAR(law->Psi(sheared, Mat3::Identity()), StableNeoHookean::FromModuli(5e4, 0.2).Psi(sheared, Mat3::Identity()), 1e-9);
}

TEST(Materials, AStateWithOthersIsRefused) {
  const auto model = testing::Compile(Boxes());
  const State start = StartWith(*model, {Changed(*model, kSoft, 2e4, 0.4, 0), Changed(*model, kCage, 2e5, 0, 0)});
  const auto refused = [&](void (*change)(std::vector<State::BodyMaterial>*)) {
    State state = start;
    change(&state.materials);
    return !World(model).Restore(state).ok() && !DecodeState(EncodeState(state), *model).ok();
  };
  using List = std::vector<State::BodyMaterial>;
  EXPECT_FALSE(refused([](List*) {}));
  EXPECT_TRUE(refused([](List* list) { std::swap((*list)[0], (*list)[1]); }));
  EXPECT_TRUE(refused([](List* list) { list->push_back(list->back()); }));
  EXPECT_TRUE(refused([](List* list) { (*list)[0].body = -1; }));
  EXPECT_TRUE(refused([](List* list) { (*list)[1].body = 99; }));
  EXPECT_TRUE(refused([](List* list) { (*list)[1].body = kTable; }));
  EXPECT_TRUE(refused([](List* list) { (*list)[1].poissons_ratio = 0.2; })) << "it is condensed";
  EXPECT_TRUE(refused([](List* list) { (*list)[0].poissons_ratio = 0.5; }));
  EXPECT_TRUE(refused([](List* list) { (*list)[0].youngs_modulus_pa = 0; }));
  EXPECT_TRUE(refused([](List* list) { (*list)[0].friction_factor = -1; }));
  EXPECT_TRUE(refused([](List* list) { (*list)[0].density_kg_m3 = std::numeric_limits<double>::infinity(); }));
}

}  // namespace
}  // namespace eipc
