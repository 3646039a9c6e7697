#include "sim/base/parameter.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace eipc {

bool Bounds::Contains(double value) const {
  return std::isfinite(value) && (value > low || (includes_low && value == low)) &&
         (value < high || (includes_high && value == high));
}

std::string Bounds::Text() const {
  const bool has_low = std::isfinite(low), has_high = std::isfinite(high);
  if (has_low && has_high && includes_low && includes_high) return absl::StrCat("in [", low, ", ", high, "]");
  const std::string above = has_low ? absl::StrCat(includes_low ? ">= " : "> ", low) : "";
  const std::string below = has_high ? absl::StrCat(includes_high ? "<= " : "< ", high) : "";
  if (above.empty() && below.empty()) return "finite";
  return absl::StrCat(above, has_low && has_high ? " and " : "", below);
}

}  // namespace eipc
