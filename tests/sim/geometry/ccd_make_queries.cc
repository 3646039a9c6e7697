// Writes the project's own query set: ccd_make_queries FOLDER [COUNT [FIRST_SEED]]. The same seed gives the same files everywhere.

#include <cstdio>
#include <cstdlib>

#include "tests/sim/geometry/ccd_query_files.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: ccd_make_queries FOLDER [COUNT [FIRST_SEED]]\n");
    return 2;
  }
  const uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4000;
  eipc::ccd_test::WriteQuerySet(argv[1], argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000'000, count);
  return 0;
}
