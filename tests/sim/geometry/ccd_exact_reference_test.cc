// The reference itself: hand-made cases, and the public sets whose answers were found with a computer algebra system.

#include "tests/sim/geometry/ccd_exact_reference.h"

#include <gtest/gtest.h>

#include "tests/sim/geometry/ccd_exact_polynomial.h"
#include "tests/sim/geometry/ccd_query_sets.h"

namespace eipc::ccd_test {
namespace {

CcdQuery Fall(double x, double z0, double z1) {
  CcdQuery q;
  q.kind = CcdKind::kPointTriangle;
  q.start = {Vec3(x, 0.25, z0), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  q.end = q.start;
  q.end[0].z() = z1;
  return q;
}

TEST(Roots, AreExact) {
  // (t - 1/2)^2 (t - 1/3)
  const Polynomial p({mpq_class(-1, 12), mpq_class(7, 12), mpq_class(-4, 3), mpq_class(1)});
  std::vector<Root> roots = RootsInUnitInterval(p);
  ASSERT_EQ(roots.size(), 2u);
  EXPECT_EQ(roots[0].SignOf(Polynomial({mpq_class(-1), mpq_class(3)})), 0);
  EXPECT_EQ(roots[1].SignOf(Polynomial({mpq_class(-1), mpq_class(2)})), 0);
  EXPECT_EQ(roots[1].SignOf(Polynomial({mpq_class(-1), mpq_class(3)})), 1);
  // 1/sqrt(2): its square is found equal to 1/2 and less than 1/2 + 1e-40.
  std::vector<Root> root = RootsInUnitInterval(Polynomial({mpq_class(-1), mpq_class(0), mpq_class(2)}));
  ASSERT_EQ(root.size(), 1u);
  EXPECT_EQ(root[0].SignOf(Polynomial({mpq_class(-2), mpq_class(0), mpq_class(4)})), 0);
  mpz_class large;
  mpz_ui_pow_ui(large.get_mpz_t(), 10, 40);
  EXPECT_EQ(root[0].SignOf(Polynomial({mpq_class(-1, 2) - mpq_class(mpz_class(1), large), mpq_class(0), mpq_class(1)})), -1);
  EXPECT_TRUE(RootsInUnitInterval(Polynomial({mpq_class(1), mpq_class(0), mpq_class(1)})).empty());
}

TEST(ExactReference, PointTriangle) {
  EXPECT_TRUE(ExactlyTouches(Fall(0.25, 1, -1)));
  EXPECT_TRUE(ExactlyTouches(Fall(0.25, 1, 0)));
  EXPECT_FALSE(ExactlyTouches(Fall(0.25, 1, 0x1p-1000)));
  EXPECT_TRUE(ExactlyTouches(Fall(0.75, 1, -1)));
  EXPECT_FALSE(ExactlyTouches(Fall(0.75 + 0x1p-52, 1, -1)));
  EXPECT_TRUE(ExactlyTouches(Fall(0.25, 1, -1), 0.5));
  EXPECT_FALSE(ExactlyTouches(Fall(0.25, 1, -1), 0.5 - 0x1p-53));
}

TEST(ExactReference, CoplanarAndCollinearMotion) {
  CcdQuery q = Fall(-1, 0, 0);  // slides in the plane through the whole triangle
  q.end[0].x() = 3;
  EXPECT_TRUE(ExactlyTouches(q));
  q.end[0].x() = -0x1p-60;
  EXPECT_FALSE(ExactlyTouches(q));
  q.kind = CcdKind::kEdgeEdge;  // on one line, the first edge passes over the second
  q.start = {Vec3(-3, 0, 0), Vec3(-2, 0, 0), Vec3(0, 0, 0), Vec3(1, 0, 0)};
  q.end = {Vec3(2, 0, 0), Vec3(3, 0, 0), Vec3(0, 0, 0), Vec3(1, 0, 0)};
  EXPECT_TRUE(ExactlyTouches(q));
  q.end = {Vec3(-1, 0, 0), Vec3(-0x1p-70, 0, 0), Vec3(0, 0, 0), Vec3(1, 0, 0)};
  EXPECT_FALSE(ExactlyTouches(q));
}

TEST(ExactReference, Distance) {
  const std::array<Vec3, 4> x = {Vec3(0.25, 0.25, 3), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  EXPECT_EQ(ExactSquaredDistance(CcdKind::kPointTriangle, x), 9);
  EXPECT_EQ(ExactSquaredDistance(CcdKind::kPointTriangle, {Vec3(2, 0, 1), x[1], x[2], x[3]}), 2);
  EXPECT_EQ(ExactSquaredDistance(CcdKind::kEdgeEdge, {Vec3(-1, 0, 2), Vec3(1, 0, 2), Vec3(0, -1, 0), Vec3(0, 1, 0)}), 4);
  EXPECT_EQ(ExactSquaredDistance(CcdKind::kEdgeEdge, {Vec3(0, 3, 0), Vec3(1, 3, 0), Vec3(2, 0, 0), Vec3(5, 0, 0)}), 10);
  EXPECT_EQ(ExactSquaredDistance(CcdKind::kEdgeEdge, {Vec3(0, 3, 0), Vec3(0, 3, 0), Vec3(0, 0, 0), Vec3(0, 0, 0)}), 9);
}

TEST(ExactReference, AgreesWithPublicSets) {
  const std::vector<std::string> files = PublicQueryFiles();
  if (files.empty()) GTEST_SKIP() << "no EIPC_DATA";
  for (const std::string& file : files) {
    const auto queries = ReadCcdQueries(file);
    ASSERT_TRUE(queries.ok()) << queries.status();
    for (size_t i = 0; i < queries->size(); ++i)
      ASSERT_EQ(ExactlyTouches((*queries)[i]), (*queries)[i].collides) << file << " " << i;
  }
}

}  // namespace
}  // namespace eipc::ccd_test
