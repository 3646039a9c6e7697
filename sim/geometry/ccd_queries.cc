#include "sim/geometry/ccd_queries.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;

constexpr int kRowsPerQuery = 8;

struct Row {
  Vec3 position = Vec3::Zero();
  bool exact = true;
  std::optional<bool> truth;
};

// Integers of any length; long double holds those of a fraction that is a double (at most 64 digits times a power of two) exactly.
std::optional<long double> ParseInteger(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const bool negative = !text.empty() && text.front() == '-';
  const absl::string_view digits = negative ? text.substr(1) : text;
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit)) return std::nullopt;
  long double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

absl::StatusOr<Row> ParseRow(absl::string_view line) {
  const std::vector<absl::string_view> fields = absl::StrSplit(line, ',');
  if (fields.size() != 6 && fields.size() != 7) {
    return absl::InvalidArgumentError(absl::StrCat("has ", fields.size(), " columns instead of 6 or 7"));
  }
  Row row;
  for (int k = 0; k < 3; ++k) {
    const auto numerator = ParseInteger(fields[2 * k]), denominator = ParseInteger(fields[2 * k + 1]);
    if (!numerator || !denominator)
      return absl::InvalidArgumentError(absl::StrCat("column ", 2 * k + 1, " or the next is not an integer"));
    if (*denominator == 0) return absl::InvalidArgumentError(absl::StrCat("column ", 2 * k + 2, " is a zero denominator"));
    const long double quotient = *numerator / *denominator;
    row.position[k] = static_cast<double>(quotient);
    row.exact = row.exact && row.position[k] == quotient && std::fma(quotient, *denominator, -*numerator) == 0;
  }
  if (fields.size() == 7) {
    const absl::string_view truth = absl::StripAsciiWhitespace(fields[6]);
    if (truth != "0" && truth != "1") return absl::InvalidArgumentError("column 7, the expected result, is neither 0 nor 1");
    row.truth = truth == "1";
  }
  return row;
}

absl::StatusOr<std::vector<Row>> ReadRows(const std::string& path) {
  std::ifstream file(path);
  if (!file || fs::is_directory(path)) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::vector<Row> rows;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<Row> row = ParseRow(line);
    if (!row.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": line ", number, " ", row.status().message()));
    rows.push_back(*row);
  }
  if (rows.size() % kRowsPerQuery != 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", rows.size(), " rows, not a multiple of 8"));
  }
  return rows;
}

absl::StatusOr<std::vector<bool>> ReadTruth(const std::string& path) {
  std::ifstream file(path);
  if (!file || fs::is_directory(path)) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  const nlohmann::json json = nlohmann::json::parse(file, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return absl::InvalidArgumentError(absl::StrCat(path, ": not a JSON array"));
  std::vector<bool> truth;
  for (const nlohmann::json& value : json) {
    if (!value.is_boolean()) return absl::InvalidArgumentError(absl::StrCat(path, ": not an array of booleans"));
    truth.push_back(value.get<bool>());
  }
  return truth;
}

std::string TruthBeside(const std::string& path) {
  const fs::path file(path);
  const std::string name = file.stem().string() + "_mma_bool.json";
  for (const fs::path& candidate :
       {file.parent_path() / name, file.parent_path() / ".." / "mma_bool" / name, file.parent_path() / "mma_bool.json"}) {
    std::error_code ignored;
    if (fs::exists(candidate, ignored)) return candidate.string();
  }
  return "";
}

absl::Status TakeTruthFromColumn(const std::string& path, const std::vector<Row>& rows, std::vector<bool>* truth) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].truth != rows[i - i % kRowsPerQuery].truth) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": query ", i / kRowsPerQuery, ": the expected result changes within its 8 rows"));
    }
    if (!rows[i].truth) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": no expected results: no 7th column, and no JSON file of them beside it; name one with --truth"));
    }
    if (i % kRowsPerQuery == 0) truth->push_back(*rows[i].truth);
  }
  return absl::OkStatus();
}

}  // namespace

CcdResult RunCcd(const CcdQuery& query, const CcdOptions& options) {
  const auto& [a, b, c, d] = query.start;
  const auto& [e, f, g, h] = query.end;
  return query.kind == CcdKind::kEdgeEdge ? EdgeEdgeCcd(a, b, c, d, e, f, g, h, options)
                                          : PointTriangleCcd(a, b, c, d, e, f, g, h, options);
}

std::optional<CcdKind> CcdKindFromPath(const std::string& path) {
  const fs::path file(path);
  const auto kind_of = [](absl::string_view name) -> std::optional<CcdKind> {
    if (absl::EndsWith(name, "edge-edge") || absl::EndsWith(name, "ee")) return CcdKind::kEdgeEdge;
    if (absl::EndsWith(name, "vertex-face") || absl::EndsWith(name, "vf")) return CcdKind::kPointTriangle;
    return std::nullopt;
  };
  if (const auto kind = kind_of(file.stem().string())) return kind;
  // Folders by their whole name only, nearest first: "tree" does not mean edge-edge.
  for (fs::path folder = file.parent_path(); folder.has_filename(); folder = folder.parent_path()) {
    const std::string name = folder.filename().string();
    if (name == "edge-edge" || name == "ee" || name == "vertex-face" || name == "vf") return kind_of(name);
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<CcdQuery>> ReadCcdQueries(const std::string& path, std::optional<CcdKind> kind,
                                                     const std::string& truth_path) {
  if (!kind) kind = CcdKindFromPath(path);
  EIPC_ASSIGN_OR_RETURN(const std::vector<Row> rows, ReadRows(path));
  if (!kind) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the path does not say whether these are edge-edge or vertex-face queries; say so with --kind"));
  }
  const bool column = !rows.empty() && rows.front().truth.has_value();
  const std::string truth_file = !truth_path.empty() ? truth_path : column ? "" : TruthBeside(path);
  std::vector<bool> truth;
  if (truth_file.empty()) {
    EIPC_RETURN_IF_ERROR(TakeTruthFromColumn(path, rows, &truth));
  } else {
    EIPC_ASSIGN_OR_RETURN(truth, ReadTruth(truth_file));
  }
  std::vector<CcdQuery> queries(rows.size() / kRowsPerQuery);
  if (truth.size() != queries.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(truth_file, ": ", truth.size(), " expected results for the ", queries.size(), " queries of ", path));
  }
  for (size_t i = 0; i < queries.size(); ++i) {
    CcdQuery& query = queries[i];
    query.kind = *kind;
    query.collides = truth[i];
    for (int k = 0; k < kRowsPerQuery; ++k) {
      const Row& row = rows[i * kRowsPerQuery + k];
      (k < 4 ? query.start[k] : query.end[k - 4]) = row.position;
      query.exact = query.exact && row.exact;
    }
  }
  return queries;
}

void CcdQueryReport::Add(const CcdQueryReport& other) {
  const int counted = queries - inexact, other_counted = other.queries - other.inexact;
  if (other_counted > 0) {
    const double weight = static_cast<double>(other_counted) / (counted + other_counted);
    mean_time_s += weight * (other.mean_time_s - mean_time_s);
    mean_iterations += weight * (other.mean_iterations - mean_iterations);
  }
  queries += other.queries;
  negatives += other.negatives;
  false_negatives += other.false_negatives;
  false_positives += other.false_positives;
  inexact += other.inexact;
  worst_time_s = std::max(worst_time_s, other.worst_time_s);
  worst_iterations = std::max(worst_iterations, other.worst_iterations);
}

CcdQueryReport EvaluateQueries(absl::Span<const CcdQuery> queries, const CcdOptions& options) {
  CcdQueryReport report;
  for (const CcdQuery& query : queries) {
    CcdQueryReport one{.queries = 1};
    if (query.exact) {
      const auto begin = std::chrono::steady_clock::now();
      const CcdResult result = RunCcd(query, options);
      one.mean_time_s = one.worst_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      one.mean_iterations = one.worst_iterations = result.iterations;
      one.negatives = !query.collides;
      one.false_negatives = query.collides && !result.hit;
      one.false_positives = !query.collides && result.hit;
    } else {
      one.inexact = 1;
    }
    report.Add(one);
  }
  return report;
}

}  // namespace eipc
