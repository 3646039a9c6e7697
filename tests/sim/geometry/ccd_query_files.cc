#include "tests/sim/geometry/ccd_query_files.h"

#include <gmpxx.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/sim/geometry/ccd_adversarial.h"
#include "tests/sim/geometry/ccd_exact_reference.h"

namespace eipc::ccd_test {

std::string ToCsv(const CcdQuery& query, bool column) {
  std::string text;
  for (const auto* x : {&query.start, &query.end}) {
    for (const Vec3& v : *x) {
      for (int k = 0; k < 3; ++k) {
        const mpq_class q(v[k]);
        absl::StrAppend(&text, k > 0 ? "," : "", q.get_num().get_str(), ",", q.get_den().get_str());
      }
      absl::StrAppend(&text, !column ? "" : query.collides ? ",1" : ",0", "\n");
    }
  }
  return text;
}

void WriteQuerySet(const std::filesystem::path& folder, uint64_t first_seed, uint64_t count) {
  std::filesystem::create_directories(folder / "queries");
  std::filesystem::create_directories(folder / "mma_bool");
  for (CcdKind kind : {CcdKind::kEdgeEdge, CcdKind::kPointTriangle}) {
    const std::string stem = kind == CcdKind::kEdgeEdge ? "0ee" : "0vf";
    std::ofstream csv(folder / "queries" / (stem + ".csv")), truth(folder / "mma_bool" / (stem + "_mma_bool.json"));
    const char* separator = "[";
    for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
      const CcdQuery query = AdversarialQuery(seed);
      if (query.kind != kind) continue;
      csv << ToCsv(query, false);
      truth << separator << (ExactlyTouches(query) ? "true" : "false");
      separator = ", ";
    }
    truth << (*separator == '[' ? "[]" : "]") << "\n";
  }
}

}  // namespace eipc::ccd_test
