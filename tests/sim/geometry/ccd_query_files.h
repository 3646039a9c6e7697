#ifndef EIPC_TESTS_SIM_GEOMETRY_CCD_QUERY_FILES_H_
#define EIPC_TESTS_SIM_GEOMETRY_CCD_QUERY_FILES_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/geometry/ccd_queries.h"

namespace eipc::ccd_test {

// One query as the public files have it: 8 rows of numerators and denominators, with `collides` in a 7th column if asked for.
std::string ToCsv(const CcdQuery& query, bool column);

// The project's own query set: AdversarialQuery(first_seed ...), answered exactly, laid out as the public sets are:
// queries/0ee.csv, queries/0vf.csv and mma_bool/0ee_mma_bool.json, mma_bool/0vf_mma_bool.json below `folder`.
void WriteQuerySet(const std::filesystem::path& folder, uint64_t first_seed, uint64_t count);

}  // namespace eipc::ccd_test

#endif  // EIPC_TESTS_SIM_GEOMETRY_CCD_QUERY_FILES_H_
