#include "server/session/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "sim/dynamics/model.h"

namespace eipc {

namespace {

// Vectors, the matrix, and its factor, which fills by the 4/3 power of the nodes where they fill a volume (nested dissection).
double NodeBytes(const Model& model) {
  constexpr double kPerNode = 7 << 10, kFill = 700;
  const double nodes = model.node_count;
  return nodes * (kPerNode + kFill * std::cbrt(nodes));
}

// The tree and boxes of a triangle, and what the search keeps of the pairs it may have with those in the way that one goes in a
// step of a fast motion: 1 m/s times 10 ms.
double SurfaceBytes(const Model& model) {
  constexpr double kPerVertex = 512, kPerTriangle = 1 << 10, kPerPair = 4, kWay = 0.01, kMostPairs = 64;
  double bytes = kPerVertex * model.surface.vertex_count;
  for (size_t body = 0; body < model.bodies.size(); ++body) {
    const double edge = model.patches.edge_length[body];
    const double pairs = edge > 0 ? std::min(kMostPairs, kWay * kWay / (edge * edge)) : 0;
    bytes += model.bodies[body].triangles.size() * (kPerTriangle + kPerPair * pairs);
  }
  return bytes;
}

}  // namespace

int64_t EstimateSessionBytes(const Model& model, int worlds) {
  constexpr double kFixed = 64 << 10, kPerElement = 1 << 10;
  size_t elements = 0;
  for (const ElasticBody& body : model.elastic) elements += body.nodes.size();
  return static_cast<int64_t>(kFixed + NodeBytes(model) + kPerElement * static_cast<double>(elements) + SurfaceBytes(model)) *
         worlds;
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
