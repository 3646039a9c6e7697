#ifndef EIPC_TESTS_SIM_GEOMETRY_CCD_QUERY_SETS_H_
#define EIPC_TESTS_SIM_GEOMETRY_CCD_QUERY_SETS_H_

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/geometry/ccd_queries.h"

namespace eipc::ccd_test {

// The CSV files below $EIPC_DATA/<folder> whose path says their kind, sorted; empty where there are none.
inline std::vector<std::string> QueryFilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  const char* data = std::getenv("EIPC_DATA");
  std::error_code missing;
  if (data == nullptr) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(data) / folder, missing)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() == ".csv" && CcdKindFromPath(path)) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::vector<std::string> PublicQueryFiles() {
  std::vector<std::string> files = QueryFilesBelow("ccd_queries");
  for (const std::string& file : QueryFilesBelow("ccd_queries_scalable")) files.push_back(file);
  return files;
}

}  // namespace eipc::ccd_test

#endif  // EIPC_TESTS_SIM_GEOMETRY_CCD_QUERY_SETS_H_
