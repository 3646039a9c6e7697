#include "tools/ccd_query_command.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "sim/geometry/ccd_queries.h"

namespace eipc {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::string kind, truth;
};

std::string Line(const CcdQueryReport& r) {
  return absl::StrFormat(
      "queries %d, false negatives %d, false positives %d (%.2f %% of %d negatives), time mean %.3g us worst %.3g us, iterations "
      "mean %.3g worst %d%s",
      r.queries, r.false_negatives, r.false_positives, r.negatives > 0 ? 100.0 * r.false_positives / r.negatives : 0.0, r.negatives,
      1e6 * r.mean_time_s, 1e6 * r.worst_time_s, r.mean_iterations, r.worst_iterations,
      r.inexact > 0 ? absl::StrFormat(", left out because their coordinates are not doubles %d", r.inexact) : "");
}

int RunCcdQueries(const Arguments& arguments) {
  if (!arguments.truth.empty() && arguments.files.size() != 1) {
    std::cerr << "ccd-query: --truth goes with one file, not " << arguments.files.size() << "\n";
    return 2;
  }
  std::optional<CcdKind> kind;
  if (!arguments.kind.empty()) kind = arguments.kind == "edge-edge" ? CcdKind::kEdgeEdge : CcdKind::kPointTriangle;
  CcdQueryReport total;
  bool unread = false;
  for (const std::string& file : arguments.files) {
    const auto queries = ReadCcdQueries(file, kind, arguments.truth);
    if (!queries.ok()) {
      std::cerr << "ccd-query: " << queries.status().message() << "\n";
      unread = true;
      continue;
    }
    const CcdQueryReport report = EvaluateQueries(*queries);
    total.Add(report);
    std::cout << file << ": " << Line(report) << "\n";
  }
  if (total.queries > 0) std::cout << "total: " << Line(total) << "\n";
  return unread ? 2 : total.false_negatives > 0 ? 1 : 0;
}

}  // namespace

void AddCcdQueryCommand(CLI::App& app, int* exit_status) {
  CLI::App* command = app.add_subcommand("ccd-query", "Run continuous collision detection on public query files");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("files", arguments->files, "CSV of rational coordinates, 8 rows a query")->required();
  command->add_option("--kind", arguments->kind, "What the queries are, where the path does not say")
      ->check(CLI::IsMember({"edge-edge", "vertex-face"}));
  command->add_option("--truth", arguments->truth, "JSON array of the expected results, where they are not in the 7th column");
  command->callback([arguments, exit_status] { *exit_status = RunCcdQueries(*arguments); });
}

}  // namespace eipc
