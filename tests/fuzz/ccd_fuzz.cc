// libFuzzer target: 24 doubles of any bit pattern, then one byte (bit 0: kind; the rest: target gap). Nothing may crash, run for
// ever or leave [0, 1]; what is not finite gets no time; and where exact arithmetic is affordable, nothing that is promised safe
// may touch.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sim/geometry/ccd.h"
#include "tests/sim/geometry/ccd_adversarial.h"
#include "tests/sim/geometry/ccd_exact_reference.h"

namespace {

void Require(bool holds, const char* what, const eipc::CcdQuery& query) {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s\n", what, eipc::ccd_test::ToString(query).c_str());
  std::abort();
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Now and then starts over from a query that is hard already; so no corpus is needed to begin with.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  constexpr size_t kSize = 24 * sizeof(double) + 1;
  if (seed % 16 != 0 || max_size < kSize) return LLVMFuzzerMutate(data, size, max_size);
  const eipc::CcdQuery query = eipc::ccd_test::AdversarialQuery(seed);
  for (int i = 0; i < 24; ++i) {
    const double x = (i < 12 ? query.start[i / 3] : query.end[i / 3 - 4])[i % 3];
    std::memcpy(data + i * sizeof(double), &x, sizeof(double));
  }
  data[kSize - 1] = query.kind == eipc::CcdKind::kEdgeEdge;
  return kSize;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  double x[24] = {};
  uint8_t choice = 0;
  std::memcpy(x, data, std::min(size, sizeof(x)));
  if (size > sizeof(x)) choice = data[sizeof(x)];
  eipc::CcdQuery query;
  query.kind = choice & 1 ? eipc::CcdKind::kEdgeEdge : eipc::CcdKind::kPointTriangle;
  bool finite = true, affordable = true;
  for (int i = 0; i < 24; ++i) {
    (i < 12 ? query.start[i / 3] : query.end[i / 3 - 4])[i % 3] = x[i];
    finite = finite && std::isfinite(x[i]);
    affordable = affordable && (x[i] == 0 || (std::fabs(x[i]) > 1e-25 && std::fabs(x[i]) < 1e12));
  }
  eipc::CcdOptions options;
  options.target_gap = choice < 2 ? 0 : std::ldexp(1.0, (choice >> 1) - 100);
  options.max_iterations = 2000;
  const eipc::CcdResult r = eipc::RunCcd(query, options);
  Require(r.time >= 0 && r.time <= 1, "time outside [0, 1]", query);
  Require(r.hit == (r.time < 1), "hit and time disagree", query);
  Require(r.iterations >= 0 && r.iterations <= options.max_iterations, "cap ignored", query);
  Require(finite || r.time == 0, "moved what is not finite", query);
  if (affordable && r.time > 0) Require(!eipc::ccd_test::ExactlyTouches(query, r.time), "missed", query);
  return 0;
}
