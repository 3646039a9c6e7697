#ifndef EIPC_SIM_BASE_PARAMETER_H_
#define EIPC_SIM_BASE_PARAMETER_H_

#include <limits>
#include <string>

#include "absl/strings/string_view.h"

namespace eipc {

// The finite values that a parameter may have.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool includes_low = false;
  bool includes_high = false;

  static constexpr Bounds Positive() { return {.low = 0}; }
  static constexpr Bounds NotNegative() { return {.low = 0, .includes_low = true}; }
  static constexpr Bounds Within(double low, double high) { return {low, high, true, true}; }
  static constexpr Bounds Between(double low, double high) { return {low, high, false, false}; }

  bool Contains(double value) const;
  // "> 0", ">= 0", "in [0, 1]", "> -1 and < 0.5", "finite": continues "must be".
  std::string Text() const;
};

// What is said of a number that an author gives in an `Owner`, once for checks, conversion and documentation.
template <typename Owner, typename Value = double>
struct Parameter {
  absl::string_view name;  // of the field in scene messages
  absl::string_view unit;  // empty: a ratio
  absl::string_view meaning;
  Value Owner::*value;
  Bounds bounds;
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_PARAMETER_H_
