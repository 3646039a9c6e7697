#ifndef EIPC_SIM_DYNAMICS_FRICTION_MODES_H_
#define EIPC_SIM_DYNAMICS_FRICTION_MODES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/dynamics/dynamics_settings.h"

namespace eipc {

// How friction may be solved for, one row each.
struct FrictionModeRow {
  FrictionMode mode;
  absl::string_view name;  // of its enumerator in the scene message
  absl::string_view summary;
  bool implicit;               // by root finding, at the end of the stage; otherwise lagged
  bool until_converged;        // solves are repeated until friction does not change any more
  int default_lag_iterations;  // of lagged friction, where the scene gives none
};

// Rows in the order of FrictionMode.
absl::Span<const FrictionModeRow> FrictionModes();
const FrictionModeRow& RowOf(FrictionMode mode);
// The first row where no other has this name.
const FrictionModeRow& FrictionModeNamed(absl::string_view name);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_FRICTION_MODES_H_
