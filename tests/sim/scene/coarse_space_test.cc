#include "sim/scene/coarse_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/energy/symmetric_law.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/meshing/condense.h"
#include "tests/support/meshes.h"

namespace eipc {
namespace {

BodySpec Embedded(int cage_vertices) {
  BodySpec spec;
  spec.kind = BodyKind::kEmbedded;
  spec.cage_vertices = cage_vertices;
  return spec;
}

TEST(DefaultCoarseSpace, IsCondensedWhereThatCanBeHad) {
  const int most = kMostVerticesCondensedByDefault;
  EXPECT_EQ(DefaultCoarseSpace(Embedded(most)), CoarseSpace::kCondensed);
  EXPECT_EQ(DefaultCoarseSpace(Embedded(most + 1)), CoarseSpace::kPlain);
  BodySpec authored = Embedded(0);
  authored.cage.emplace();
  authored.cage->vertices.resize(most);
  EXPECT_EQ(DefaultCoarseSpace(authored), CoarseSpace::kCondensed);
  authored.cage->vertices.resize(most + 1);
  EXPECT_EQ(DefaultCoarseSpace(authored), CoarseSpace::kPlain);
  BodySpec calibrated = Embedded(34);
  calibrated.calibration.emplace();
  EXPECT_EQ(DefaultCoarseSpace(calibrated), CoarseSpace::kPlain);
}

// At rest the law of the mean strain is that of isotropic elasticity with the body's moduli, or the remainder would not go with it.
TEST(DefaultCoarseSpace, EveryMaterialThatCanBeCondensedIsIsotropicElasticityAtRest) {
  int condensed = 0;
  for (const MaterialModel model : Materials()) {
    if (!WhyNotCondensed(model).empty()) continue;
    ++condensed;
    for (const double nu : {-0.5, 0.0, 0.3, 0.4999}) {
      MaterialSpec spec;
      spec.model = model;
      spec.youngs_modulus_pa = 1e4;
      spec.poissons_ratio = nu;
      spec.mooney_second_share = model == &MooneyRivlin::kDescriptor ? 0.3 : 0;
      const Material material = model->make(spec);
      const Mat6 law = IsotropicStiffness(1e4 / (3 * (1 - 2 * nu)), 1e4 / (2 * (1 + nu)));
      EXPECT_LT((TangentOf(material, Mat3::Identity(), true) - law).norm(), 1e-9 * law.norm()) << model->name << ", " << nu;
      EXPECT_LT(StressOf(material, Mat3::Identity()).norm(), 1e-9 * law.norm()) << model->name << ", " << nu;
    }
  }
  EXPECT_GT(condensed, 3);
  EXPECT_THAT(WhyNotCondensed(&LogBarrierNeoHookean::kDescriptor), ::testing::HasSubstr("inversion"));
  EXPECT_THAT(WhyNotCondensed(&AbdOrthogonality::kDescriptor), ::testing::HasSubstr("moduli"));
}

TEST(DefaultCoarseSpace, IsPlainForThePapersMaterialAndWhereInversionIsForbidden) {
  for (const MaterialModel model : Materials()) {
    BodySpec spec = Embedded(34);
    spec.material.model = model;
    const bool plain = model == &LinearCorotated::kDescriptor || !WhyNotCondensed(model).empty();
    EXPECT_EQ(DefaultCoarseSpace(spec), plain ? CoarseSpace::kPlain : CoarseSpace::kCondensed) << model->name;
  }
}

MeshData Cube(double x) {
  MeshData cube = testing::BoxTetGrid(Vec3(x, 0, 0), Vec3(x + 1, 1, 1), {1, 1, 1});
  cube.triangles = TetMesh::Create(cube.vertices, cube.tets)->BoundaryTriangles();
  cube.tets.clear();
  return cube;
}

// `inner` turned inside out when it is a cavity.
MeshData Both(MeshData outer, const MeshData& inner, bool cavity) {
  const auto first = static_cast<int32_t>(outer.vertices.size());
  outer.vertices.insert(outer.vertices.end(), inner.vertices.begin(), inner.vertices.end());
  for (Triangle t : inner.triangles) {
    if (cavity) std::swap(t[0], t[1]);
    outer.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  }
  return outer;
}

TEST(DefaultCoarseSpace, IsPlainForACageThatIsTheObjectsMesh) {
  BodySpec spec = Embedded(0);
  spec.mesh = testing::BoxTetGrid(Vec3::Zero(), Vec3::Ones(), {2, 2, 2});
  spec.cage = spec.mesh;
  EXPECT_EQ(DefaultCoarseSpace(spec), CoarseSpace::kPlain);
  spec.cage = testing::BoxTetGrid(Vec3::Zero(), Vec3::Ones(), {1, 1, 1});
  EXPECT_EQ(DefaultCoarseSpace(spec), CoarseSpace::kCondensed);
}

TEST(DefaultCoarseSpace, IsPlainForAnObjectOfSeveralPieces) {
  BodySpec spec = Embedded(34);
  spec.mesh = Cube(0);
  EXPECT_EQ(DefaultCoarseSpace(spec), CoarseSpace::kCondensed);
  spec.mesh = Both(Cube(0), Cube(2), false);
  EXPECT_EQ(DefaultCoarseSpace(spec), CoarseSpace::kPlain);
  MeshData small = Cube(0);
  for (Vec3& p : small.vertices) p = 0.25 * p + Vec3::Constant(0.25);
  spec.mesh = Both(Cube(0), small, true);
  EXPECT_EQ(DefaultCoarseSpace(spec), CoarseSpace::kCondensed) << "a hollow object is one piece";
  spec.mesh.triangles.push_back({0, 1, 99});
  EXPECT_EQ(DefaultCoarseSpace(spec), CoarseSpace::kCondensed) << "what is wrong with a mesh is found elsewhere";
}

TEST(SharedStiffness, IsThatOfTheFirstBodyWithEverythingTheSame) {
  const auto body = [](int cage, double youngs, double x) {
    BodySpec spec = Embedded(cage);
    spec.coarse_space = CoarseSpace::kCondensed;
    spec.material.youngs_modulus_pa = youngs;
    spec.mesh = Cube(x);
    return spec;
  };
  std::vector<BodySpec> bodies = {body(34, 1, 0), body(34, 1, 0), body(34, 2, 0), body(20, 1, 0), body(34, 1, 1), body(34, 1, 1)};
  bodies[1].pose.position = Vec3(1, 2, 3);  // and whatever else it does not depend on
  bodies.push_back(body(34, 1, 0));
  bodies.back().coarse_space = CoarseSpace::kPlain;
  bodies.push_back(body(34, 1, 0));
  bodies.back().cage = Cube(0);
  EXPECT_THAT(SharedStiffness(bodies), ::testing::ElementsAre(0, 0, 2, 3, 4, 4, -1, 7));
}

}  // namespace
}  // namespace eipc
