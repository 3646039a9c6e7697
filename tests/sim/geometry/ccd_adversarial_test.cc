// CCD against exact arithmetic on queries made to break it. One shard of EIPC_CCD_COUNT queries, number EIPC_CCD_SHARD, so that a
// study of any size can be cut up, resumed and repeated: seeds are shard * count + i.

#include "tests/sim/geometry/ccd_adversarial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "absl/strings/str_format.h"
#include "sim/geometry/ccd.h"
#include "tests/sim/geometry/ccd_exact_reference.h"

namespace eipc::ccd_test {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

double LargestCoordinate(const std::array<Vec3, 4>& x) {
  double largest = 0;
  for (const Vec3& v : x) largest = std::max(largest, v.cwiseAbs().maxCoeff());
  return largest;
}

// What callers may rely on: max(1e-12 m, 32 ulp).
double PromisedFloor(const std::array<Vec3, 4>& x) {
  const double largest = LargestCoordinate(x);
  return std::max(1e-12, 32 * (std::nextafter(largest, INFINITY) - largest));
}

std::array<Vec3, 4> MovedInDoubles(const CcdQuery& q, double t) {
  std::array<Vec3, 4> x;
  for (int i = 0; i < 4; ++i) {
    const Vec3 d = q.end[i] - q.start[i];
    x[i] = q.start[i] + t * d;
  }
  return x;
}

// The state that a caller forms at t keeps the gap, or what can be kept when the pair starts without room.
::testing::AssertionResult KeepsGap(const CcdQuery& q, double t, double target_gap) {
  const std::array<Vec3, 4> x = MovedInDoubles(q, t);
  const mpq_class start = ExactSquaredDistance(q.kind, q.start), now = ExactSquaredDistance(q.kind, x);
  const double floor = PromisedFloor(x), d0 = std::sqrt(start.get_d());
  // The gap that the header states is cut at half of a certified lower bound of the first distance, which rounding puts below d0.
  const double gap = std::max(floor, (1 - 1e-6) * std::min(target_gap, 0.5 * d0 - 1e-15 * LargestCoordinate(q.start)));
  const double promised = d0 > 4 * floor ? gap : 0;
  if (now > mpq_class(promised) * mpq_class(promised)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "distance " << std::sqrt(now.get_d()) << " at t = " << t << " instead of " << promised
                                       << ", from " << d0;
}

bool Check(const CcdQuery& q, double target_gap) {
  CcdOptions options;
  options.target_gap = target_gap;
  const CcdResult r = RunCcd(q, options);
  EXPECT_TRUE(r.time >= 0 && r.time <= 1) << r.time;
  EXPECT_EQ(r.hit, r.time < 1);
  EXPECT_LE(r.iterations, options.max_iterations);
  if (r.time > 0) {
    EXPECT_FALSE(ExactlyTouches(q, r.time)) << "missed, time " << r.time;
    EXPECT_TRUE(KeepsGap(q, r.time, target_gap));
    EXPECT_TRUE(KeepsGap(q, 0.5 * r.time, target_gap));
  }
  return r.hit;
}

TEST(CcdAdversarial, NeverMissesAndKeepsTheGap) {
  const uint64_t count = FromEnvironment("EIPC_CCD_COUNT", 20000), shard = FromEnvironment("EIPC_CCD_SHARD", 0);
  uint64_t hits = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t seed = shard * count + i;
    const CcdQuery q = AdversarialQuery(seed);
    const double d0 = std::sqrt(ExactSquaredDistance(q.kind, q.start).get_d());
    hits += Check(q, seed % 3 == 0 ? 0 : 0.1 * d0);
    ASSERT_FALSE(HasFailure()) << "repeat with EIPC_CCD_COUNT=1 EIPC_CCD_SHARD=" << seed << "\n" << ToString(q);
  }
  if (count >= 1000) {  // The families must stay hard: both answers are common.
    EXPECT_GT(hits, count / 4);
    EXPECT_LT(hits, 3 * count / 4);
  }
  RecordProperty("queries", static_cast<int>(count));
  RecordProperty("hits", static_cast<int>(hits));
}

}  // namespace
}  // namespace eipc::ccd_test
