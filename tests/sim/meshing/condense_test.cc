#include "sim/meshing/condense.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "sim/mesh/embedding.h"
#include "sim/meshing/condensed_store.h"
#include "sim/meshing/fine_model.h"
#include "sim/meshing/locking.h"
#include "tests/support/interrupted.h"
#include "tests/support/meshes.h"

namespace eipc {
namespace {

using MatX = Eigen::MatrixXd;
using testing::BoxTetGrid;

constexpr ElasticModuli kRubber = {5e4, 0.4};
const Vec3 kSize(0.12, 0.05, 0.04);

TetMesh Tets(const MeshData& mesh) { return *TetMesh::Create(mesh.vertices, mesh.tets); }
TetMesh Object() { return Tets(BoxTetGrid(-0.5 * kSize, 0.5 * kSize, {9, 4, 3})); }
TetMesh Cage(double larger = 1.1) { return Tets(BoxTetGrid(-0.5 * larger * kSize, 0.5 * larger * kSize, {3, 1, 1})); }

SurfaceMesh SurfaceOf(const TetMesh& mesh) {
  MeshData used;
  std::vector<int32_t> index(mesh.vertices().size(), -1);
  for (Triangle t : mesh.BoundaryTriangles()) {
    for (int32_t& v : t) {
      if (index[v] < 0) {
        index[v] = static_cast<int32_t>(used.vertices.size());
        used.vertices.push_back(mesh.vertices()[v]);
      }
      v = index[v];
    }
    used.triangles.push_back(t);
  }
  return *SurfaceMesh::Create(used.vertices, used.triangles);
}

MatX Fine(const TetMesh& mesh) {
  std::vector<double> volume;
  for (size_t t = 0; t < mesh.tets().size(); ++t) volume.push_back(mesh.Volume(static_cast<int>(t)));
  const double nu = kRubber.poissons_ratio, e = kRubber.youngs_modulus_pa;
  return MatX(LinearStiffness(mesh, volume, e * nu / ((1 + nu) * (1 - 2 * nu)), e / (2 * (1 + nu))));
}

// Fine nodes from cage nodes, three rows a vertex.
MatX Interpolation(const TetMesh& cage, const std::vector<Vec3>& points) {
  const Embedding embedding = *Embedding::Create(cage, points);
  MatX w = MatX::Zero(3 * static_cast<Eigen::Index>(points.size()), 3 * static_cast<Eigen::Index>(cage.vertices().size()));
  for (size_t v = 0; v < points.size(); ++v) {
    const EmbeddingRow& row = embedding.rows()[v];
    for (int k = 0; k < row.count; ++k) {
      for (int i = 0; i < 3; ++i) w(3 * static_cast<Eigen::Index>(v) + i, 3 * row.nodes[k] + i) = row.weights[k];
    }
  }
  return w;
}

// Consistent, 1,000 kg/m^3.
MatX MassOf(const TetMesh& mesh) {
  const auto rows = 3 * static_cast<Eigen::Index>(mesh.vertices().size());
  MatX mass = MatX::Zero(rows, rows);
  for (size_t t = 0; t < mesh.tets().size(); ++t) {
    for (const int32_t a : mesh.tets()[t]) {
      for (const int32_t b : mesh.tets()[t]) {
        for (int i = 0; i < 3; ++i) mass(3 * a + i, 3 * b + i) += 1000 * mesh.Volume(static_cast<int>(t)) * (a == b ? 0.1 : 0.05);
      }
    }
  }
  return mass;
}

// Of the modes that are no rigid motion, rad/s.
double FirstFrequency(const MatX& stiffness, const MatX& mass) {
  return std::sqrt(Eigen::GeneralizedSelfAdjointEigenSolver<MatX>(stiffness, mass, Eigen::EigenvaluesOnly).eigenvalues()[6]);
}

TEST(Condense, TheObjectsOwnMeshKeepsItsStiffness) {
  const TetMesh object = Object();
  const auto condensed = Condense(object, SurfaceOf(object), &object, kRubber);
  ASSERT_TRUE(condensed.ok()) << condensed.status();
  EXPECT_EQ(condensed->clusters.size(), 8u);
  const MatX fine = Fine(object);
  EXPECT_LT((SmallStrainStiffness(*condensed) - fine).norm(), 1e-4 * fine.norm());
}

// Every fine displacement with that projection costs at least as much, among them the one that follows the cage; and none costs
// less than nothing.
TEST(Condense, LiesBetweenNothingAndTheCage) {
  const TetMesh object = Object(), cage = Cage();
  const auto condensed = Condense(cage, SurfaceOf(object), &object, kRubber);
  ASSERT_TRUE(condensed.ok()) << condensed.status();
  const MatX w = Interpolation(cage, object.vertices()), plain = w.transpose() * Fine(object) * w,
             sum = SmallStrainStiffness(*condensed);
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatX>(plain - sum).eigenvalues().minCoeff(), -1e-6 * plain.norm());
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatX>(sum).eigenvalues().minCoeff(), -1e-9 * sum.norm());
  for (const CondensedStiffness::Cluster& c : condensed->clusters) {
    Vec3 total = Vec3::Zero();
    Mat3 identity = Mat3::Zero();
    for (size_t k = 0; k < c.gradient.size(); ++k) {
      total += c.gradient[k];
      identity += condensed->rest[k] * c.gradient[k].transpose();
    }
    EXPECT_LT(total.norm(), 1e-9);
    EXPECT_LT((identity - Mat3::Identity()).norm(), 1e-9);
  }
}

Eigen::Map<const MatX> StrainOf(const CondensedStiffness& condensed, const CondensedStiffness::Cluster& c, size_t part) {
  const size_t rows = 3 * condensed.stride();
  return {c.strain.data() + 6 * part * rows, static_cast<Eigen::Index>(rows), 6};
}

// Of the object itself every mean strain of an affine motion is that of the motion, and the parts fill the object.
TEST(Condense, PartsHaveTheirMeanStrains) {
  const TetMesh object = Object();
  const auto condensed = Condense(object, SurfaceOf(object), &object, kRubber);
  ASSERT_TRUE(condensed.ok()) << condensed.status();
  Mat3 gradient;
  gradient << 0.02, -0.05, 0.03, 0.01, -0.04, 0.02, 0.06, -0.01, 0.03;
  const Mat3 e = 0.5 * (gradient + gradient.transpose());
  Eigen::Matrix<double, 6, 1> expected;
  expected << e(0, 0), e(1, 1), e(2, 2), std::sqrt(2) * e(0, 1), std::sqrt(2) * e(1, 2), std::sqrt(2) * e(2, 0);
  const size_t stride = condensed->stride();
  VecX moved = VecX::Zero(static_cast<Eigen::Index>(3 * stride));
  for (size_t k = 0; k < condensed->vertices(); ++k) {
    for (size_t i = 0; i < 3; ++i) {
      moved[static_cast<Eigen::Index>(i * stride + k)] = (gradient * condensed->rest[k])[static_cast<int>(i)];
    }
  }
  double volume = 0;
  size_t parts = 0;
  for (const CondensedStiffness::Cluster& c : condensed->clusters) {
    for (size_t s = 0; s < c.volume.size(); ++s, ++parts) {
      EXPECT_LT((StrainOf(*condensed, c, s).transpose() * moved - expected).norm(), 1e-4 * expected.norm());
      volume += c.volume[s];
    }
  }
  EXPECT_NEAR(volume, kSize.prod(), 1e-9 * volume);
  // Of what is asked for, to half a part of a cluster.
  const size_t asked = std::min<size_t>(kMostCondensedParts, object.tets().size() / 2);
  EXPECT_NEAR(static_cast<double>(parts), static_cast<double>(asked), 0.5 * static_cast<double>(condensed->clusters.size()));
}

// What varies within the parts never costs less than nothing, and rigid motions strain none.
TEST(Condense, PartsTakeNoMoreThanTheirClusterHas) {
  const TetMesh object = Object(), cage = Cage();
  const auto condensed = Condense(cage, SurfaceOf(object), &object, kRubber);
  ASSERT_TRUE(condensed.ok()) << condensed.status();
  const Mat6 law = IsotropicStiffness(condensed->bulk_modulus_pa, condensed->shear_modulus_pa);
  const auto n = static_cast<Eigen::Index>(condensed->vertices()), stride = static_cast<Eigen::Index>(condensed->stride());
  for (const CondensedStiffness::Cluster& c : condensed->clusters) {
    const Eigen::Map<const MatX> stiffness(c.stiffness.data(), 3 * stride, 3 * n);
    MatX within(3 * n, 3 * n), strain(3 * n, 6);
    for (Eigen::Index i = 0; i < 3; ++i) within.middleRows(i * n, n) = stiffness.middleRows(i * stride, n);
    for (size_t s = 0; s < c.volume.size(); ++s) {
      for (Eigen::Index i = 0; i < 3; ++i) {
        strain.middleRows(i * n, n) = StrainOf(*condensed, c, s).middleRows(i * stride, n);
        EXPECT_LT(strain.middleRows(i * n, n).colwise().sum().norm(), 1e-9 * strain.norm());
      }
      within -= c.volume[s] * strain * law * strain.transpose();
    }
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatX>(within).eigenvalues().minCoeff(), -1e-9 * stiffness.norm());
  }
}

TEST(Condense, RigidMotionsAreFree) {
  const TetMesh object = Object(), cage = Cage();
  const MatX sum = SmallStrainStiffness(*Condense(cage, SurfaceOf(object), &object, kRubber));
  for (int m = 0; m < 6; ++m) {
    VecX motion(sum.cols());
    for (size_t k = 0; k < cage.vertices().size(); ++k) {
      motion.segment<3>(3 * static_cast<Eigen::Index>(k)) = m < 3 ? Vec3::Unit(m) : Vec3::Unit(m - 3).cross(cage.vertices()[k]);
    }
    EXPECT_LT((sum * motion).norm(), 1e-9 * sum.norm() * motion.norm());
  }
}

// Bending, of which linear tetrahedra resist far too much: the frequency of the first bending mode, with the mass that both spaces
// share, against the fine model's own.
TEST(Condense, BendsAsTheObject) {
  const TetMesh object = Object(), cage = Cage();
  const MatX w = Interpolation(cage, object.vertices());
  const MatX fine = Fine(object), mass = w.transpose() * MassOf(object) * w;
  const double exact = FirstFrequency(fine, MassOf(object));
  EXPECT_NEAR(FirstFrequency(SmallStrainStiffness(*Condense(cage, SurfaceOf(object), &object, kRubber)), mass), exact,
              0.05 * exact);
  EXPECT_GT(FirstFrequency(w.transpose() * fine * w, mass), 1.3 * exact) << "the plain space";
}

// Without tetrahedra of its own the object gets a lattice.
TEST(Condense, TakesALatticeWhereThereIsNoMesh) {
  const TetMesh object = Object(), cage = Cage();
  const auto lattice = Condense(cage, SurfaceOf(object), nullptr, kRubber);
  ASSERT_TRUE(lattice.ok()) << lattice.status();
  const MatX w = Interpolation(cage, object.vertices()), mass = w.transpose() * MassOf(object) * w;
  const double exact = FirstFrequency(Fine(object), MassOf(object));
  EXPECT_NEAR(FirstFrequency(SmallStrainStiffness(*lattice), mass), exact, 0.15 * exact);
}

// Own tetrahedra with fewer displacements than the cage has cannot stand for the object.
TEST(Condense, TakesALatticeWhereTheObjectsMeshIsCoarserThanTheCage) {
  const TetMesh fine = Object(), cage = Tets(BoxTetGrid(-0.55 * kSize, 0.55 * kSize, {4, 2, 2}));
  const MatX lattice = SmallStrainStiffness(*Condense(cage, SurfaceOf(fine), nullptr, kRubber));
  for (const std::array<int, 3>& cells : {std::array<int, 3>{1, 1, 1}, {2, 2, 2}, {4, 3, 2}}) {
    const TetMesh coarse = Tets(BoxTetGrid(-0.5 * kSize, 0.5 * kSize, cells));
    ASSERT_LT(coarse.vertices().size(), 2 * cage.vertices().size());
    const auto condensed = Condense(cage, SurfaceOf(coarse), &coarse, kRubber);
    ASSERT_TRUE(condensed.ok()) << condensed.status();
    // The same solid: the triangles of its faces are others.
    EXPECT_LT((SmallStrainStiffness(*condensed) - lattice).norm(), 1e-6 * lattice.norm());
  }
}

// A cage with corners that no solid surrounds: vertices whose place only their neighbours say. The others keep the stiffness that
// they have in the cage without those.
TEST(Condense, LeavesVerticesWithoutSolidToTheirNeighbours) {
  const TetMesh object = Object();
  const Vec3 low = -0.55 * kSize, high = 0.55 * kSize, more(0.5 * kSize[0], 0, 0);
  const MeshData tight = BoxTetGrid(low, high, {3, 1, 1});
  MeshData wide = BoxTetGrid(low, high + 0.7 * more, {4, 1, 1});
  for (Vec3& p : wide.vertices) {
    const double cell = std::round((p[0] - low[0]) / (high[0] - low[0] + 0.7 * more[0]) * 4);
    p[0] = low[0] + cell * (high[0] - low[0]) / 3;
  }
  const auto alone = Condense(Tets(tight), SurfaceOf(object), &object, kRubber),
             with = Condense(Tets(wide), SurfaceOf(object), &object, kRubber);
  ASSERT_TRUE(alone.ok() && with.ok()) << with.status();
  const MatX inner = SmallStrainStiffness(*alone), all = SmallStrainStiffness(*with);
  std::vector<Eigen::Index> kept, left;
  for (size_t k = 0; k < wide.vertices.size(); ++k) {
    std::vector<Eigen::Index>& to = wide.vertices[k][0] > high[0] + 1e-9 ? left : kept;
    for (int i = 0; i < 3; ++i) to.push_back(3 * static_cast<Eigen::Index>(k) + i);
  }
  ASSERT_EQ(kept.size(), static_cast<size_t>(inner.rows()));
  const MatX within = all(kept, kept) - all(kept, left) * all(left, left).ldlt().solve(all(left, kept));
  EXPECT_LT((within - inner).norm(), 1e-3 * inner.norm());
  EXPECT_LT(all.norm(), 1e9 * inner.norm());
}

// Two pieces whose cage is one: no fine displacement holds them together, so that K* would be singular.
TEST(Condense, RefusesAnObjectOfSeveralPieces) {
  MeshData two = BoxTetGrid(-0.5 * kSize, Vec3(-0.02, 0.5 * kSize[1], 0.5 * kSize[2]), {2, 2, 2});
  const MeshData other = BoxTetGrid(Vec3(0.02, -0.5 * kSize[1], -0.5 * kSize[2]), 0.5 * kSize, {2, 2, 2});
  const auto first = static_cast<int32_t>(two.vertices.size());
  two.vertices.insert(two.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (const Tet& t : other.tets) two.tets.push_back({t[0] + first, t[1] + first, t[2] + first, t[3] + first});
  const TetMesh object = Tets(two);
  for (const TetMesh* own : {&object, static_cast<const TetMesh*>(nullptr)}) {
    const auto condensed = Condense(Cage(), SurfaceOf(object), own, kRubber);
    EXPECT_EQ(condensed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(condensed.status().message().find("2 pieces"), std::string::npos) << condensed.status();
  }
}

TEST(Condense, IsDeterministic) {
  const TetMesh object = Object(), cage = Cage();
  const auto a = Condense(cage, SurfaceOf(object), &object, kRubber), b = Condense(cage, SurfaceOf(object), &object, kRubber);
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->clusters.size(), b->clusters.size());
  for (size_t c = 0; c < a->clusters.size(); ++c) {
    EXPECT_EQ(a->clusters[c].stiffness, b->clusters[c].stiffness);
    EXPECT_EQ(a->clusters[c].strain, b->clusters[c].strain);
    EXPECT_EQ(a->clusters[c].volume, b->clusters[c].volume);
  }
}

// As fine as the object it errs by nothing; much coarser, by much less than linear tetrahedra do.
TEST(MeasureCondensedError, IsSmallWhereThePlainSpaceLocks) {
  const TetMesh object = Object(), cage = Cage(), fine = Tets(BoxTetGrid(-0.5 * kSize, 0.5 * kSize, {4, 3, 2}));
  const auto itself = MeasureCondensedError(fine, SurfaceOf(fine), &fine, kRubber.poissons_ratio);
  ASSERT_TRUE(itself.ok()) << itself.status();
  ASSERT_EQ(itself->loads.size(), 10u);
  EXPECT_EQ(itself->reference_vertices, 60);
  EXPECT_LT(std::abs(itself->worst()->error), 1e-3);
  const SurfaceMesh surface = SurfaceOf(object);
  const auto plain = MeasureCageError(cage, surface, &object, kRubber.poissons_ratio);
  const auto condensed = MeasureCondensedError(cage, surface, &object, kRubber.poissons_ratio);
  ASSERT_TRUE(plain.ok() && condensed.ok()) << condensed.status();
  EXPECT_GT(plain->median(), 0.3);
  EXPECT_LT(condensed->median(), plain->median() / 3);
  const TetMesh large = Tets(BoxTetGrid(-0.5 * kSize, 0.5 * kSize, {10, 4, 4}));
  ASSERT_GT(large.vertices().size(), kMostCondensedVertices);
  EXPECT_FALSE(MeasureCondensedError(large, SurfaceOf(large), &large, kRubber.poissons_ratio).ok()) << "too many vertices";
}

// In memory; the store of the process while it lives.
class MemoryStore : public CondensedStore {
 public:
  MemoryStore() { SetCondensedStore(this); }
  ~MemoryStore() override { SetCondensedStore(nullptr); }
  std::optional<std::string> Find(absl::string_view key) override {
    const auto found = kept.find(std::string(key));
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  }
  void Keep(absl::string_view key, absl::string_view bytes) override { kept[std::string(key)] = std::string(bytes); }

  std::map<std::string, std::string> kept;
};

TEST(CondensedStore, BytesHoldEveryNumber) {
  const TetMesh object = Object(), cage = Cage();
  const auto made = Condense(cage, SurfaceOf(object), &object, kRubber);
  ASSERT_TRUE(made.ok());
  const std::string bytes = ToBytes(*made);
  const std::optional<CondensedStiffness> back = FromBytes(bytes, cage.vertices().size());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->rest, made->rest);
  EXPECT_EQ(back->bulk_modulus_pa, made->bulk_modulus_pa);
  ASSERT_EQ(back->clusters.size(), made->clusters.size());
  for (size_t c = 0; c < made->clusters.size(); ++c) {
    EXPECT_EQ(back->clusters[c].stiffness, made->clusters[c].stiffness);
    EXPECT_EQ(back->clusters[c].strain, made->clusters[c].strain);
    EXPECT_EQ(back->clusters[c].volume, made->clusters[c].volume);
    EXPECT_EQ(back->clusters[c].gradient, made->clusters[c].gradient);
  }
  EXPECT_FALSE(FromBytes(bytes, cage.vertices().size() + 1).has_value()) << "of another cage";
  for (const size_t length : {size_t{0}, size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_FALSE(FromBytes(bytes.substr(0, length), cage.vertices().size()).has_value()) << length << " bytes";
  }
  EXPECT_FALSE(FromBytes(bytes + "more", cage.vertices().size()).has_value());
}

// What was kept is taken as it is; damaged bytes are made again; whatever the stiffness depends on is part of the key.
TEST(CondensedStore, IsAskedBeforeAnythingIsMade) {
  const TetMesh object = Object(), cage = Cage();
  const SurfaceMesh surface = SurfaceOf(object);
  const MatX alone = SmallStrainStiffness(*Condense(cage, surface, &object, kRubber));
  MemoryStore store;
  EXPECT_EQ(SmallStrainStiffness(*CondenseOnce(cage, surface, &object, kRubber)), alone);
  ASSERT_EQ(store.kept.size(), 1u);
  const std::string key = store.kept.begin()->first;
  EXPECT_EQ(SmallStrainStiffness(*CondenseOnce(cage, surface, &object, kRubber)), alone);
  CondensedStiffness doubled = *FromBytes(store.kept[key], cage.vertices().size());
  for (CondensedStiffness::Cluster& c : doubled.clusters) {
    for (double& k : c.stiffness) k *= 2;
  }
  store.kept[key] = ToBytes(doubled);
  EXPECT_EQ(SmallStrainStiffness(*CondenseOnce(cage, surface, &object, kRubber)), 2 * alone);
  store.kept[key].resize(100);
  EXPECT_EQ(SmallStrainStiffness(*CondenseOnce(cage, surface, &object, kRubber)), alone);
  EXPECT_EQ(FromBytes(store.kept[key], cage.vertices().size()).has_value(), true) << "and kept again";
  const TetMesh finer = Tets(BoxTetGrid(-0.5 * kSize, 0.5 * kSize, {8, 4, 3}));
  ASSERT_TRUE(CondenseOnce(Cage(1.2), surface, &object, kRubber).ok());
  ASSERT_TRUE(CondenseOnce(cage, surface, nullptr, kRubber).ok());
  ASSERT_TRUE(CondenseOnce(cage, surface, &finer, kRubber).ok());
  ASSERT_TRUE(CondenseOnce(cage, SurfaceOf(finer), &object, kRubber).ok());
  ASSERT_TRUE(CondenseOnce(cage, surface, &object, {2 * kRubber.youngs_modulus_pa, kRubber.poissons_ratio}).ok());
  ASSERT_TRUE(CondenseOnce(cage, surface, &object, {kRubber.youngs_modulus_pa, 0.3}).ok());
  EXPECT_EQ(store.kept.size(), 7u);
}

// In every part of it, of both kinds of fine models.
TEST(Condense, EndsWhenInterrupted) {
  const TetMesh object = Object(), cage = Cage();
  for (const TetMesh* own : {&object, static_cast<const TetMesh*>(nullptr)}) {
    testing::ExpectEndsWhenInterrupted(
        2000, [&](Interrupt* interrupt) { return Condense(cage, SurfaceOf(object), own, kRubber, interrupt).status(); });
  }
}

TEST(MeasureLocking, EndsWhenInterrupted) {
  const TetMesh object = Object(), cage = Cage();
  testing::ExpectEndsWhenInterrupted(1000, [&](Interrupt* interrupt) {
    return MeasureLocking(cage, SurfaceOf(object), &object, kRubber.poissons_ratio, interrupt).status();
  });
}

}  // namespace
}  // namespace eipc
