// A uniform deformation of a body costs its volume times the energy density of its material, whatever the strain, when the cage
// stands for the object's own mesh.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <variant>

#include "sim/energy/condensed.h"
#include "sim/meshing/condense.h"
#include "tests/support/meshes.h"

namespace eipc {
namespace {

constexpr double kYoungs = 5e4, kPoissons = 0.4;

ElasticBody CondensedBlock(const Material& material) {
  const Vec3 half(0.06, 0.025, 0.02);
  const MeshData mesh = testing::BoxTetGrid(-half, half, {4, 2, 2});
  const TetMesh tets = *TetMesh::Create(mesh.vertices, mesh.tets);
  ElasticBody body;
  body.material = material;
  body.nodes = tets.tets();
  for (size_t t = 0; t < tets.tets().size(); ++t) {
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = tets.vertices()[tets.tets()[t][k + 1]] - tets.vertices()[tets.tets()[t][0]];
    body.inverse_rest.push_back(edges.inverse());
    body.volume.push_back(tets.Volume(static_cast<int>(t)));
  }
  const SurfaceMesh surface = *SurfaceMesh::Create(mesh.vertices, tets.BoundaryTriangles());
  body.condensed = std::make_shared<CondensedStiffness>(*Condense(tets, surface, &tets, {kYoungs, kPoissons}));
  return body;
}

TEST(CondensedCage, UniformDeformationHasTheLawOfTheMaterial) {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> unit(-1, 1);
  const Material materials[] = {StableNeoHookean::FromModuli(kYoungs, kPoissons), FixedCorotated::FromModuli(kYoungs, kPoissons)};
  for (const Material& material : materials) {
    const ElasticBody body = CondensedBlock(material);
    double volume = 0;
    for (const double v : body.volume) volume += v;
    for (int i = 0; i < 20; ++i) {
      Mat3 f = Vec3(1 + 0.4 * unit(rng), 1 + 0.4 * unit(rng), 1 + 0.4 * unit(rng)).asDiagonal();
      for (int k = 0; k < 9; ++k) f.data()[k] += 0.1 * unit(rng);
      VecX q(3 * static_cast<Eigen::Index>(body.condensed->vertices()));
      for (size_t k = 0; k < body.condensed->vertices(); ++k) {
        q.segment<3>(3 * static_cast<Eigen::Index>(k)) = f * body.condensed->rest[k] + Vec3(1, 2, 3);
      }
      const double density = std::visit([&](const auto& law) { return law.Psi(f, Mat3::Identity()); }, material);
      EXPECT_NEAR(StoredElasticEnergy(body, q), volume * density, 1e-4 * volume * density) << f;
    }
  }
}

}  // namespace
}  // namespace eipc
