#include "sim/energy/condensed.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <memory>
#include <utility>

#include "sim/energy/tangent_terms.h"
#include "sim/mesh/condensed_stiffness.h"
#include "tests/sim/energy/random_body.h"
#include "tests/sim/energy/term_battery.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RelativeError;
using testing::TermUnderTest;

// Random rows that are 0 for rigid motions of `rest`.
MatX RandomRows(const CondensedStiffness& condensed, Eigen::Index rows, Random* random) {
  const auto n = static_cast<Eigen::Index>(condensed.vertices());
  MatX rigid(3 * n, 6), out(rows, 3 * n);
  for (Eigen::Index k = 0; k < n; ++k) {
    rigid.block<3, 3>(3 * k, 0).setIdentity();
    for (int m = 0; m < 3; ++m) rigid.block<3, 1>(3 * k, 3 + m) = Vec3::Unit(m).cross(condensed.rest[k]);
  }
  for (Eigen::Index c = 0; c < 3 * n; ++c) out.col(c) = random->Vector(rows, 1);
  return out - out * rigid * (rigid.transpose() * rigid).inverse() * rigid.transpose();
}

// Stiffness 0 for rigid motions of `rest`, else random and positive.
std::vector<double> RandomStiffness(const CondensedStiffness& condensed, double scale, Random* random) {
  const auto n = static_cast<Eigen::Index>(condensed.vertices());
  const MatX half = RandomRows(condensed, 3 * n, random), stiffness = scale * half.transpose() * half;
  const size_t stride = condensed.stride();
  std::vector<double> out(9 * stride * n, 0);
  for (Eigen::Index k = 0; k < n; ++k) {
    for (Eigen::Index l = 0; l < n; ++l) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) out[(j * n + l) * 3 * stride + i * stride + k] = stiffness(3 * k + i, 3 * l + j);
      }
    }
  }
  return out;
}

// Mean strains of `parts` that a displacement of a metre changes by `scale`.
std::vector<double> RandomStrain(const CondensedStiffness& condensed, double scale, size_t parts, Random* random) {
  const size_t stride = condensed.stride();
  const auto lines = static_cast<Eigen::Index>(6 * parts);
  const MatX rows = scale * RandomRows(condensed, lines, random);
  std::vector<double> out(18 * parts * stride, 0);
  for (Eigen::Index m = 0; m < lines; ++m) {
    for (size_t k = 0; k < condensed.vertices(); ++k) {
      for (size_t i = 0; i < 3; ++i) {
        out[(3 * static_cast<size_t>(m) + i) * stride + k] = rows(m, static_cast<Eigen::Index>(3 * k + i));
      }
    }
  }
  return out;
}

// The stiffness of what varies within the parts, and that of their mean strains.
std::vector<double> WithParts(std::vector<double> within, const CondensedStiffness& condensed,
                              const CondensedStiffness::Cluster& cluster) {
  const auto n = static_cast<Eigen::Index>(condensed.vertices()), rows = static_cast<Eigen::Index>(3 * condensed.stride());
  const Mat6 law = IsotropicStiffness(condensed.bulk_modulus_pa, condensed.shear_modulus_pa);
  Eigen::Map<MatX> sum(within.data(), rows, 3 * n);
  for (size_t part = 0; part < cluster.volume.size(); ++part) {
    const Eigen::Map<const MatX> strain(cluster.strain.data() + 6 * part * static_cast<size_t>(rows), rows, 6);
    const MatX of_part = cluster.volume[part] * strain * law * strain.transpose();
    for (Eigen::Index j = 0; j < 3; ++j) sum.middleCols(j * n, n) += of_part.middleCols(j * (rows / 3), n);
  }
  return within;
}

// A body of ten tetrahedra with three clusters of 1, 5 and 3 parts:
// half of it each, and all. `more` nodes belong to no tetrahedron.
struct Condensed {
  Condensed(double beta, Random* random, int more = 0, double stiffness = 300, double same_tangent = 0)
      : body(testing::RandomBody(StableNeoHookean::FromModuli(1e5, 0.4), beta, random, &rest)) {
    rest.conservativeResize(rest.size() + 3 * more);
    for (int k = 0; k < more; ++k) rest.tail(3 * (more - k)).head<3>() = Vec3(0.1, 0.05, 0.05) + random->Cube(0.1);
    auto made = std::make_shared<CondensedStiffness>();
    const auto n = static_cast<size_t>(rest.size() / 3);
    Vec3 mean = Vec3::Zero();
    for (size_t k = 0; k < n; ++k) mean += rest.segment<3>(3 * k) / static_cast<double>(n);
    for (size_t k = 0; k < n; ++k) made->rest.push_back(rest.segment<3>(3 * k) - mean);
    made->bulk_modulus_pa = 1e5 / (3 * (1 - 2 * 0.4));
    made->shear_modulus_pa = 1e5 / (2 * (1 + 0.4));
    for (int c = 0; c < 3; ++c) {
      CondensedStiffness::Cluster cluster;
      cluster.volume = c == 0   ? std::vector<double>{1e-3}
                       : c == 1 ? std::vector<double>{1e-3, 0.4e-3, 0.2e-3, 0.7e-3, 0.5e-3}
                                : std::vector<double>{0.3e-3, 0.4e-3, 0.6e-3};
      cluster.strain = RandomStrain(*made, 2, cluster.volume.size(), random);
      cluster.stiffness = WithParts(RandomStiffness(*made, stiffness, random), *made, cluster);
      cluster.gradient.assign(n, Vec3::Zero());
      double total = 0;
      for (size_t e = 0; e < body.nodes.size(); ++e) {
        if (c < 2 && e % 2 != static_cast<size_t>(c)) continue;
        Vec3 first = Vec3::Zero();
        for (int a = 1; a < 4; ++a) {
          const Vec3 g = body.volume[e] * body.inverse_rest[e].row(a - 1).transpose();
          cluster.gradient[body.nodes[e][a]] += g;
          first -= g;
        }
        cluster.gradient[body.nodes[e][0]] += first;
        total += body.volume[e];
      }
      for (Vec3& g : cluster.gradient) g /= total;
      made->clusters.push_back(std::move(cluster));
    }
    body.condensed = std::move(made);
    term.emplace(&body, &pool, same_tangent);
  }
  void Begin(const VecX& start, const VecX& q_tilde) {
    q_start = start, tilde = q_tilde;
    term->BeginStage({q_start, tilde, x_tilde, q_start, 0.01});
  }
  TermUnderTest Term() { return {&*term, static_cast<int>(rest.size() / 3)}; }
  // The body turned and shifted, with that strain, every element pressed to `volume` of its own.
  VecX Deformed(double strain, double volume, Random* random) const {
    return testing::Moved(std::cbrt(volume) * rest, {random->Cube(1), random->Rotation()}) + random->Vector(rest.size(), strain);
  }

  ThreadPool pool{2, ThreadPool::Sharing::kAlways};
  VecX rest, q_start, tilde;
  std::vector<Vec3> x_tilde;
  ElasticBody body;
  std::optional<CondensedTerm> term;
};

void ExpectDerivatives(Condensed* body, Random* random) {
  for (const double volume : {1.0, 1.3, 0.6, 0.15}) {
    for (const double strain : {0.001, 0.01, 0.02}) {
      SCOPED_TRACE(::testing::Message() << "volume " << volume << ", strain " << strain);
      const VecX q = body->Deformed(strain, volume, random);
      body->Begin(body->Deformed(0.01, 1, random), q + random->Vector(q.size(), 0.01));
      EXPECT_LT(RelativeError(body->Term().Gradient(q), body->Term().GradientByDifference(q, 1e-5)), 1e-7);
      EXPECT_LT(RelativeError(body->Term().Hessian(q), body->Term().HessianByDifference(q, 1e-5)), 1e-6);
    }
  }
}

// With 12 nodes, and with numbers that do not fill whole quads.
TEST(CondensedTerm, DerivativesAgreeWithDifferences) {
  Random random(1);
  for (const double beta : {0.0, 0.02}) {
    for (const int more : {0, 1, 3}) {
      SCOPED_TRACE(::testing::Message() << "beta " << beta << ", " << more << " nodes more");
      Condensed body(beta, &random, more);
      ExpectDerivatives(&body, &random);
    }
  }
}

// Whenever it says so the two are near; near ones are not all refused, and no turn, strain or fold goes unseen.
TEST(CondensedTerm, AHessianHoldsWhileClustersAndPartsStayAsTheyAre) {
  Random random(9);
  int held = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Condensed body(trial % 2 * 0.02, &random);
    const VecX start = body.Deformed(0.002, 1, &random);
    body.Begin(start, start);
    const MatX hessian = body.Term().Hessian(start);
    const double size = std::pow(10, random.Uniform(-6, -1));
    const VecX q = testing::Moved(start + random.Vector(start.size(), trial % 3 == 0 ? 0 : 0.1 * size),
                                  Pose{random.Cube(1), Quat(Eigen::AngleAxisd(size, random.Cube(1).normalized()))});
    const bool holds = body.term->HessianHolds({q, body.x_tilde});
    held += holds;
    EXPECT_FALSE(holds && size > 0.006) << size;
    if (holds) {
      EXPECT_LT(RelativeError(hessian, body.Term().Hessian(q)), 0.025) << size;
    }
  }
  EXPECT_GT(held, 15);
  Condensed body(0, &random);
  const VecX start = body.Deformed(0.002, 1, &random), folded = body.Deformed(0.002, 0.1, &random);
  body.Begin(start, start);
  (void)body.Term().Hessian(folded);
  EXPECT_FALSE(body.term->HessianHolds({folded, body.x_tilde}));  // beyond kFoldingStart
  Condensed more(0, &random, 1);                                  // whose last node turns no cluster
  more.Begin(more.rest, more.rest);
  VecX q = more.rest;
  (void)more.Term().Hessian(q);
  EXPECT_TRUE(more.term->HessianHolds({q, more.x_tilde}));
  q.tail<3>() += Vec3::Constant(1e-2);
  EXPECT_FALSE(more.term->HessianHolds({q, more.x_tilde}));
  // Where the volume hardly changes, or much of what encloses the body is empty, it holds for less.
  const auto holds_when_turned = [&](double angle) {
    const VecX turned = testing::Moved(body.rest, {Vec3::Zero(), Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()))});
    CondensedTerm term(&body.body, &body.pool);
    term.BeginStage({body.rest, body.rest, body.x_tilde, body.rest, 0.01});
    (void)TermUnderTest{&term, static_cast<int>(body.rest.size() / 3)}.Hessian(body.rest);
    return term.HessianHolds({turned, body.x_tilde});
  };
  EXPECT_TRUE(holds_when_turned(1e-4));
  auto made = std::make_shared<CondensedStiffness>(*body.body.condensed);
  made->bulk_modulus_pa *= 1000;
  body.body.condensed = made;
  EXPECT_FALSE(holds_when_turned(1e-4));
  made->bulk_modulus_pa /= 1000;
  for (CondensedStiffness::Cluster& cluster : made->clusters) {
    for (double& volume : cluster.volume) volume /= 1000;
  }
  EXPECT_FALSE(holds_when_turned(1e-4));
}

// Also where the mean strains of clusters are so large that their law is not convex, and after the exact one has been asked for.
TEST(CondensedTerm, ProjectedHessianIsPositiveSemidefinite) {
  Random random(2);
  for (const double stiffness : {300.0, 1e-3}) {
    Condensed body(0.01, &random, 0, stiffness);
    for (int i = 0; i < 10; ++i) {
      const VecX q = body.Deformed(stiffness > 1 ? 0.03 : 0.3, i % 2 == 0 ? 0.5 : 0.15, &random);
      body.Begin(q, q);
      (void)body.Term().Hessian(q);
      EXPECT_TRUE(body.term->Project());
      EXPECT_FALSE(body.term->Project());
      const MatX h = body.Term().Hessian(q);
      EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatX>(h).eigenvalues().minCoeff(), -1e-9 * h.norm());
      ThreadPool one(1);
      CondensedTerm fresh(&body.body, &one, 0);
      fresh.BeginStage({q, q, body.x_tilde, q, 0.01});
      fresh.Project();
      EXPECT_EQ((TermUnderTest{&fresh, static_cast<int>(body.rest.size() / 3)}.Hessian(q)), h);
    }
  }
}

// What the terms of eigenvalues below kSameTangent would add to the Hessian where the last node, which turns no cluster, is moved
// by `shift`.
MatX LeftOut(const Condensed& body, const Vec3& shift) {
  const CondensedStiffness& condensed = *body.body.condensed;
  const size_t stride = condensed.stride(), rows = 3 * stride;
  const auto n = static_cast<Eigen::Index>(condensed.vertices());
  const TangentTerms tangents(condensed.bulk_modulus_pa, condensed.shear_modulus_pa);
  MatX sum = MatX::Zero(3 * n, 3 * n);
  for (const CondensedStiffness::Cluster& c : condensed.clusters) {
    for (size_t part = 0; part < c.volume.size(); ++part) {
      MatX strain(6, 3 * n);
      for (Eigen::Index m = 0; m < 6; ++m) {
        for (Eigen::Index k = 0; k < 3 * n; ++k)
          strain(m, k) = c.strain[(6 * part + static_cast<size_t>(m)) * rows + static_cast<size_t>(k % 3) * stride +
                                  static_cast<size_t>(k / 3)];
      }
      const Vec6 numbers = strain.rightCols<3>() * shift;
      Vec6s e;
      for (size_t m = 0; m < 6; ++m) e[m] = Splat(numbers[static_cast<int>(m)]);
      for (const double least : {0.0, CondensedTerm::kSameTangent}) {
        const TangentTerms::Terms terms = tangents.At(body.body.material, e, false, least)[0];
        for (int r = 0; r < terms.count; ++r) {
          const TangentTerms::Term& term = terms.of[static_cast<size_t>(r)];
          const VecX row = strain.transpose() * term.direction;
          sum += (term.stiffer == (least == 0) ? 1 : -1) * c.volume[part] * row * row.transpose();
        }
      }
    }
  }
  return sum;
}

// What the tangents of parts have beyond that at rest counts from kSameTangent on, of whichever part and in whichever direction.
TEST(CondensedTerm, LeavesOutOfTheTangentsOfPartsWhatIsHardlyThere) {
  Random random(8);
  Condensed body(0, &random, 1, 300, CondensedTerm::kSameTangent);
  CondensedTerm whole(&body.body, &body.pool, 0);
  const TermUnderTest other = {&whole, static_cast<int>(body.rest.size() / 3)};
  const Vec3 direction = random.Cube(1).normalized();
  for (const double length : {0.003, 0.03, 0.1, 0.3}) {
    VecX q = body.rest;
    q.tail<3>() += length * direction;
    for (CondensedTerm* term : {&*body.term, &whole}) {
      term->BeginStage({q, q, body.x_tilde, q, 0.01});
      term->Project();
    }
    const MatX expected = LeftOut(body, length * direction), h = other.Hessian(q);
    EXPECT_GT(expected.norm(), 1e-6 * h.norm()) << length;
    EXPECT_LT((h - body.Term().Hessian(q) - expected).norm(), 1e-9 * h.norm()) << length;
  }
}

// beta / (gamma h) K with the stiffness of small strain where the step begins at rest, whatever came before.
TEST(CondensedTerm, IsDampedByItsStiffnessAtTheStartOfTheStep) {
  constexpr double kBeta = 0.02, kGammaH = 0.01;
  Random first(6), second(6);
  Condensed free(0, &first), damped(kBeta, &second);
  free.Begin(free.rest, free.rest);
  damped.Begin(damped.Deformed(0.1, 0.5, &second), damped.rest);
  (void)damped.Term().Hessian(damped.Deformed(0.1, 0.5, &second));
  damped.Begin(damped.rest, damped.rest);
  const VecX q = free.Deformed(0.02, 0.7, &first);
  const MatX difference = damped.Term().Hessian(q) - free.Term().Hessian(q);
  EXPECT_LT(RelativeError(difference, kBeta / kGammaH * SmallStrainStiffness(*free.body.condensed)), 1e-9);
}

// Rigid motions cost nothing, at rest and on top of any deformation, and there is neither net force nor net moment.
TEST(CondensedTerm, SeesNoRigidMotion) {
  Random random(3);
  Condensed body(0, &random);
  body.Begin(body.rest, body.rest);
  const double stiff = 300 * 1e-4;
  for (int i = 0; i < 5; ++i) {
    const Pose by = {random.Cube(1), random.Rotation()};
    EXPECT_NEAR(body.Term().Value(testing::Moved(body.rest, by)), 0, 1e-12 * stiff);
    EXPECT_LT(body.Term().Gradient(testing::Moved(body.rest, by)).norm(), 1e-10);
    const VecX q = body.Deformed(0.02, i % 2 == 0 ? 0.6 : 0.15, &random);
    const double value = body.Term().Value(q);
    EXPECT_NEAR(StoredElasticEnergy(body.body, q), value, 1e-10 * value);
    EXPECT_NEAR(body.Term().Value(testing::Moved(q, by)), value, 1e-10 * value);
    const VecX gradient = body.Term().Gradient(q);
    EXPECT_LT(testing::TotalForce(gradient).norm(), 1e-9 * gradient.norm());
    EXPECT_LT(testing::TotalMoment(q, gradient).norm(), 1e-9 * gradient.norm());
  }
}

TEST(CondensedTerm, IsTheSumOfItsStiffnessesAtRest) {
  Random random(4);
  Condensed body(0, &random);
  body.Begin(body.rest, body.rest);
  EXPECT_LT(RelativeError(body.Term().Hessian(body.rest), SmallStrainStiffness(*body.body.condensed)), 1e-10);
}

// The same bits for one thread and for more.
TEST(CondensedTerm, DoesNotDependOnThreads) {
  Random random(5);
  Condensed body(0.01, &random);
  ThreadPool one(1);
  CondensedTerm alone(&body.body, &one, 0);
  const VecX q = body.Deformed(0.02, 0.7, &random), start = body.Deformed(0.01, 1, &random);
  body.Begin(start, q);
  alone.BeginStage({start, q, body.x_tilde, start, 0.01});
  const TermUnderTest other = {&alone, static_cast<int>(body.rest.size() / 3)};
  EXPECT_EQ(body.Term().Value(q), other.Value(q));
  EXPECT_EQ(body.Term().Gradient(q), other.Gradient(q));
  EXPECT_EQ(body.Term().Hessian(q), other.Hessian(q));
}

}  // namespace
}  // namespace eipc
