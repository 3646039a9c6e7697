#include "server/session/memory_budget.h"

#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "sim/dynamics/model.h"

namespace eipc {

int64_t EstimateSessionBytes(const Model& model, int worlds) {
  constexpr int64_t kFixed = 64 << 10;
  constexpr int64_t kPerNode = 12 << 10;
  constexpr int64_t kPerElement = 1 << 10;
  constexpr int64_t kPerSurfaceVertex = 512;
  constexpr int64_t kPerTriangle = 1 << 10;
  int64_t elements = 0;
  for (const ElasticBody& body : model.elastic) elements += static_cast<int64_t>(body.nodes.size());
  const int64_t world = kFixed + kPerNode * model.node_count + kPerElement * elements +
                        kPerSurfaceVertex * model.surface.vertex_count +
                        kPerTriangle * static_cast<int64_t>(model.surface.triangles.size());
  return world * worlds;
}

absl::StatusOr<MemoryBudget::Share> MemoryBudget::Take(int64_t bytes, const std::string& what) {
  if (largest_bytes_ > 0 && bytes > largest_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("MEMORY_BUDGET: ", what, " needs about ", bytes, " bytes; the server gives one at most ", largest_bytes_));
  }
  int64_t used = used_.load();
  do {
    if (total_bytes_ > 0 && bytes > total_bytes_ - used) {
      return absl::ResourceExhaustedError(absl::StrCat("MEMORY_BUDGET: ", what, " needs about ", bytes, " bytes; ", used,
                                                       " of the ", total_bytes_,
                                                       " that the server gives are taken; delete a session first"));
    }
  } while (!used_.compare_exchange_weak(used, used + bytes));
  return Share(this, bytes);
}

int64_t ResidentBytes() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace eipc
