#ifndef EIPC_SIM_GEOMETRY_CCD_QUERIES_H_
#define EIPC_SIM_GEOMETRY_CCD_QUERIES_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sim/base/types.h"
#include "sim/geometry/ccd.h"

// The public query sets for continuous collision detection (Wang et al. 2021, "A Large-scale Benchmark and an Inclusion-based
// Algorithm for Continuous Collision Detection"): CSV, 8 rows a query (4 vertices at t = 0, then at t = 1), a row being the
// numerators and denominators of x, y, z and, in some sets, the expected result, 0 or 1, repeated on all 8 rows. Other sets have it
// in a JSON array of booleans beside the CSV.

namespace eipc {

enum class CcdKind { kEdgeEdge, kPointTriangle };

struct CcdQuery {
  CcdKind kind = CcdKind::kEdgeEdge;
  // Point-triangle: p a b c; edge-edge: a b, c d.
  std::array<Vec3, 4> start, end;
  // The exact answer: whether the primitives touch at some time in [0, 1].
  bool collides = false;
  // Every coordinate of the file is exactly a double. Otherwise the query was rounded, and `collides` need not hold for it.
  bool exact = true;
};

CcdResult RunCcd(const CcdQuery& query, const CcdOptions& options);

// "edge-edge" or "ee", "vertex-face" or "vf", as folder names or at the end of the file's stem (".../edge-edge/data_0_0.csv",
// "227vf.csv"); none if the path does not say.
std::optional<CcdKind> CcdKindFromPath(const std::string& path);

// kind: none: from the path. truth_path: a JSON array of booleans, one a query; empty: the 7th column, or else the file's
// "<stem>_mma_bool.json" in this folder or in ../mma_bool, or "mma_bool.json" in this folder.
// Errors: NotFound (no such file), InvalidArgument (row and reason; no kind; no truth; counts that differ).
absl::StatusOr<std::vector<CcdQuery>> ReadCcdQueries(const std::string& path, std::optional<CcdKind> kind = std::nullopt,
                                                     const std::string& truth_path = "");

struct CcdQueryReport {
  int queries = 0, negatives = 0;
  int false_negatives = 0, false_positives = 0;
  // Queries left out because their coordinates are not doubles.
  int inexact = 0;
  double mean_time_s = 0, worst_time_s = 0;
  double mean_iterations = 0;
  int worst_iterations = 0;

  void Add(const CcdQueryReport& other);
};

// A query counts as a hit when the whole step could not be proven.
CcdQueryReport EvaluateQueries(absl::Span<const CcdQuery> queries, const CcdOptions& options = {});

}  // namespace eipc

#endif  // EIPC_SIM_GEOMETRY_CCD_QUERIES_H_
