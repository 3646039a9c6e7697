#include "tools/choose_budget.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

using Json = nlohmann::ordered_json;

// Each has about 1.6 times as many vertices as the one before. A cage finer than the last is measured against a reference hardly
// finer than itself, and is better replaced by a mesh of the object.
constexpr std::array<int, 10> kBudgets = {16, 25, 40, 64, 100, 160, 250, 400, 640, 1000};
constexpr double kWorstOverMedian = 2;

bool IsWithin(const Json& found, double error) {
  return found["median"].is_number() && found["median"] <= error && found["worst"] <= kWorstOverMedian * error;
}

absl::Status NotMet(double error, const Json& last) {
  const Json& found = last["error"];
  const std::string remedy = "allow a larger error, or simulate the object's own tetrahedra (a full-space body)";
  if (!found["median"].is_number()) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("--error %.3g: the error of its cages cannot be measured (%s); give --vertices", error,
                        found["reason"].get<std::string>()));
  }
  return absl::ResourceExhaustedError(absl::StrFormat(
      "--error %.3g: a cage of %d vertices is still off by %.3g in the median and %.3g at worst (%s; at most %.3g and %.3g); %s",
      error, last["cage"]["vertices"].get<int>(), found["median"].get<double>(), found["worst"].get<double>(),
      found["worst_load"].get<std::string>(), error, kWorstOverMedian * error, remedy));
}

}  // namespace

absl::StatusOr<ReportedMesh> ChooseBudget(PrepareOptions options, double error) {
  if (!(error > 0)) return absl::InvalidArgumentError(absl::StrFormat("--error: must be > 0, got %g", error));
  Json tries = Json::array();
  Json last;
  absl::Status failure;
  for (const int budget : kBudgets) {
    options.vertices = budget;
    const absl::StatusOr<PreparedMesh> prepared = PrepareMesh(options);
    if (!prepared.ok()) {
      // Too few vertices for this shape: more may do.
      if (prepared.status().code() != absl::StatusCode::kResourceExhausted) return prepared.status();
      failure = prepared.status();
      continue;
    }
    EIPC_ASSIGN_OR_RETURN(last, ReadReport(*prepared));
    const Json found = last["error"];
    tries.push_back(
        {{"budget", budget}, {"vertices", last["cage"]["vertices"]}, {"median", found["median"]}, {"worst", found["worst"]}});
    if (!IsWithin(found, error)) continue;
    last["error"]["asked"] = error;
    last["error"]["tried"] = std::move(tries);
    return ReportedMesh{*prepared, std::move(last)};
  }
  return last.is_null() ? failure : NotMet(error, last);
}

}  // namespace eipc
