// What fills a closed surface: laws, gradient and Hessian by differences, on surfaces that are nodes, embedded and partly static.

#include "sim/energy/volume.h"

#include <gtest/gtest.h>

#include "tests/sim/energy/term_battery.h"
#include "tests/support/meshes.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RelativeError;
using testing::TermUnderTest;

const Filling kFillings[] = {{VolumeLaw::kIdealGas, 1.0, 3e4, 1e5, 0},
                             {VolumeLaw::kIdealGas, 1.0, -4e4, 1e5, 0},
                             {VolumeLaw::kNearlyIncompressible, 1.0, 2e4, 0, 1e-5},
                             {VolumeLaw::kSecondOrder, 1.0, -1e4, 0, 1e-5}};

TEST(Filling, EnergyPressureAndStiffnessAreDerivativesOfEachOther) {
  for (Filling f : kFillings) {
    f.rest_volume_m3 = 0.02;
    EXPECT_NEAR(f.Overpressure(0.02), f.overpressure_pa, 1e-9);
    EXPECT_EQ(f.Energy(0.02), 0);
    for (const double volume : {0.007, 0.0199, 0.02, 0.031}) {
      const auto energy = [&](const VecX& v) { return f.Energy(v[0]); };
      const auto pressure = [&](const VecX& v) { return VecX::Constant(1, f.Overpressure(v[0])); };
      const VecX at = VecX::Constant(1, volume);
      const double scale = std::abs(f.Overpressure(volume)) + 1e3;
      EXPECT_NEAR(testing::GradientByDifferences(energy, at, 1e-5)[0], -f.Overpressure(volume), 1e-6 * scale);
      EXPECT_NEAR(testing::JacobianByDifferences(pressure, at, 1e-5)(0, 0) / -f.Stiffness(volume), 1, 1e-7);
    }
  }
}

TEST(Filling, GasObeysBoylesLawAndTheOthersTheirCompressibility) {
  const double pressure = 1e5, over = 3e4;
  const Filling gas = {VolumeLaw::kIdealGas, 2.0, over, pressure, 0};
  for (const double volume : {0.5, 1.0, 3.0}) EXPECT_NEAR((gas.Overpressure(volume) + pressure) * volume, 1.3e5 * 2.0, 1e-6);
  // -dV/dP / V is constant.
  const Filling water = {VolumeLaw::kNearlyIncompressible, 2.0, 0, 0, 4.6e-10};
  for (const double volume : {1.9, 2.0, 2.1}) EXPECT_NEAR(1 / (volume * water.Stiffness(volume)) / 4.6e-10, 1, 1e-12);
  EXPECT_NEAR(water.Overpressure(2.0 * std::exp(-4.6e-10 * 1e7)) / 1e7, 1, 1e-9);
  // For small changes all three agree where kv = 1 / P.
  const Filling second = {VolumeLaw::kSecondOrder, 2.0, 0, 0, 1e-5}, air = {VolumeLaw::kIdealGas, 2.0, 0, 1e5, 0};
  EXPECT_NEAR(second.Overpressure(2.0 * 0.999) / air.Overpressure(2.0 * 0.999), 1, 2e-3);
}

TEST(Filling, RunsOutOfRoomWithoutVolume) {
  for (const Filling& f : kFillings) EXPECT_EQ(std::isinf(f.Energy(-0.01)), f.law != VolumeLaw::kSecondOrder);
}

// A box whose surface vertices are nodes, or lie in a cage of eight nodes (a random trilinear one), or are static on one side.
struct Case {
  std::string name;
  FilledRegion region;
  std::vector<EmbeddingRow> rows;
  std::vector<Vec3> offsets;
  VecX q;
};

Case MakeCase(const std::string& kind, const Filling& filling, Random* random) {
  const MeshData box = testing::BoxSurfaceGrid(Vec3(-0.5, -0.5, -0.5), Vec3(0.5, 0.5, 0.5), {2, 2, 1});
  const int32_t n = static_cast<int32_t>(box.vertices.size());
  Case c{kind, {0, box.triangles, filling}, {}, {}, {}};
  const bool caged = kind == "embedded";
  c.q = random->Vector(caged ? 24 : 3 * n, 0.06);
  for (int32_t v = 0; v < n; ++v) {
    const Vec3& p = box.vertices[v];
    EmbeddingRow row;
    const bool fixed = kind == "half static" && p.z() < 0;
    if (caged) {  // four of the eight corners: those of its half
      row.count = 4;
      for (int k = 0; k < 4; ++k) {
        row.nodes[k] = 4 * (p.x() > 0) + k;
        row.weights[k] = (0.5 + (k & 1 ? 1 : -1) * p.y()) * (0.5 + (k & 2 ? 1 : -1) * p.z());
      }
    } else if (!fixed) {
      row.count = 1;
      row.nodes[0] = v;
      row.weights[0] = 1;
      c.q.segment<3>(3 * v) += p;
    }
    c.rows.push_back(row);
    c.offsets.push_back(fixed ? p : Vec3::Zero());
  }
  for (int k = 0; k < 8 && caged; ++k) c.q.segment<3>(3 * k) += Vec3(k & 4 ? 0.5 : -0.5, k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5);
  return c;
}

TEST(VolumeTerm, DerivativesAgreeWithDifferences) {
  Random random(3);
  for (const Filling& filling : kFillings) {
    for (const char* kind : {"nodes", "embedded", "half static"}) {
      const Case c = MakeCase(kind, filling, &random);
      const SurfaceMap map(&c.rows, &c.offsets);
      VolumeTerm term(&c.region, &map);
      const TermUnderTest test{&term, static_cast<int>(c.q.size() / 3), &map};
      const VecX gradient = test.Gradient(c.q);
      EXPECT_LT(RelativeError(gradient, test.GradientByDifference(c.q, 1e-3)), 1e-8) << kind;
      std::vector<Vec3> x;
      map.Positions(c.q, &x);
      LowRank updates;
      term.AppendRankOneUpdate({c.q, x}, &updates);
      ASSERT_EQ(updates.count(), 1);
      const MatX update = updates.weight(0) * updates.vector(0) * updates.vector(0).transpose();
      EXPECT_LT(RelativeError(test.Hessian(c.q) + update, test.HessianByDifference(c.q, 1e-3)), 1e-8) << kind;
    }
  }
}

// Of two eigenvalues of opposite sign that an edge has, the positive one is left; the sum over edges is at least the exact part.
TEST(VolumeTerm, ProjectedHessianIsPositiveSemidefiniteAndAboveTheExactOne) {
  Random random(4);
  for (const Filling& filling : kFillings) {
    const Case c = MakeCase("embedded", filling, &random);
    const SurfaceMap map(&c.rows, &c.offsets);
    VolumeTerm term(&c.region, &map);
    const TermUnderTest test{&term, 8, &map};
    const MatX exact = test.Hessian(c.q);
    const double scale = exact.norm();
    EXPECT_LT(testing::SmallestEigenvalue(exact), -1e-3 * scale);
    EXPECT_TRUE(term.Project());
    EXPECT_FALSE(term.Project());
    const MatX projected = test.Hessian(c.q);
    EXPECT_GT(testing::SmallestEigenvalue(projected), -1e-12 * scale);
    EXPECT_GT(testing::SmallestEigenvalue(projected - exact), -1e-12 * scale);
    const VecX none;
    term.BeginStage({none, none, {}, none, 1});
    EXPECT_EQ(test.Hessian(c.q), exact) << "exact again in the next stage";
  }
}

TEST(VolumeTerm, EdgesAreProjectedToTheNearestPositiveSemidefiniteBlock) {
  // One tetrahedron: every hinge's block alone, by pressing only two of its nodes' rows out of the surface map.
  const Filling filling = kFillings[0];
  const std::vector<Vec3> x = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  std::vector<EmbeddingRow> rows(4);
  for (int v = 0; v < 2; ++v) {
    rows[v].count = 1;
    rows[v].nodes[0] = v;
    rows[v].weights[0] = 1;
  }
  const FilledRegion region = {0, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}, filling};
  const SurfaceMap map(&rows, &x);
  VolumeTerm term(&region, &map);
  const TermUnderTest test{&term, 2, &map};
  VecX q(6);
  q << x[0], x[1];
  const MatX exact = test.Hessian(q);
  term.Project();
  // The other five edges have one vertex or none that moves: their blocks add to the diagonal only when projected.
  const MatX projected = test.Hessian(q);
  const MatX off = projected.topRightCorner<3, 3>();
  EXPECT_LT(RelativeError(off, 0.5 * exact.topRightCorner<3, 3>()), 1e-12);
}

TEST(VolumeTerm, PressureOnAClosedSurfaceHasNoForceAndNoMoment) {
  Random random(5);
  for (const Filling& filling : kFillings) {
    Case c = MakeCase("nodes", filling, &random);
    const SurfaceMap map(&c.rows, &c.offsets);
    VolumeTerm term(&c.region, &map);
    const TermUnderTest test{&term, static_cast<int>(c.q.size() / 3), &map};
    const VecX gradient = test.Gradient(c.q);
    EXPECT_LT(testing::TotalForce(gradient).norm(), 1e-13 * gradient.norm());
    EXPECT_LT(testing::TotalMoment(c.q, gradient).norm(), 1e-13 * gradient.norm());
    const Pose motion = {Vec3(30, -20, 10), random.Rotation()};
    EXPECT_NEAR(test.Value(testing::Moved(c.q, motion)), test.Value(c.q), 1e-8 * filling.Stiffness(1));
  }
}

TEST(VolumeTerm, PushesAFaceWithPressureTimesArea) {
  Random random(6);
  Case c = MakeCase("nodes", kFillings[0], &random);
  const MeshData box = testing::BoxSurfaceGrid(Vec3(-0.5, -0.5, -0.5), Vec3(0.5, 0.5, 0.5), {2, 2, 1});
  for (size_t v = 0; v < box.vertices.size(); ++v) c.q.segment<3>(3 * v) = box.vertices[v].cwiseProduct(Vec3(1, 1, 0.8));
  const SurfaceMap map(&c.rows, &c.offsets);
  VolumeTerm term(&c.region, &map);
  const VecX gradient = TermUnderTest{&term, static_cast<int>(c.q.size() / 3), &map}.Gradient(c.q);
  double force = 0;
  for (size_t v = 0; v < box.vertices.size(); ++v) {
    if (box.vertices[v].z() > 0) force -= gradient[3 * v + 2];
  }
  EXPECT_NEAR(force / (1.3e5 / 0.8 - 1e5), 1, 1e-12);
}

TEST(VolumeTerm, StepsThatWouldUseUpTheVolumeAreCut) {
  Random random(7);
  const Case c = MakeCase("nodes", kFillings[0], &random);
  const SurfaceMap map(&c.rows, &c.offsets);
  const VolumeTerm term(&c.region, &map);
  std::vector<Vec3> x, flat;
  map.Positions(c.q, &x);
  flat = x;
  for (Vec3& p : flat) p.z() *= -1;  // inside out
  const double step = term.MaxStep(x, flat);
  EXPECT_EQ(step, 0.25) << "z times 1 - 2 s: no volume at 1/2";
  EXPECT_EQ(term.MaxStep(x, x), 1);
}

}  // namespace
}  // namespace eipc
