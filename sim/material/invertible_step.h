#ifndef EIPC_SIM_MATERIAL_INVERTIBLE_STEP_H_
#define EIPC_SIM_MATERIAL_INVERTIBLE_STEP_H_

#include "sim/base/types.h"

namespace eipc {

// The largest t in [0, 1], to about one part in 1e6 and never above it, such that det(F + s dF) >= min_ratio * det(F) > 0 for all s
// in [0, t], in exact arithmetic on the given F and dF. `min_ratio` in (0, 1). Rounding errors are bounded, not ignored: where it
// cannot be proved in double precision that any step is safe (det F <= 0 or below 1e-100, F a sliver to rounding, a NaN, entries
// beyond 1e150), the answer is 0. Where the determinant grazes the bound without crossing it, the answer may stop there.
double MaxInversionFreeStep(const Mat3& F, const Mat3& dF, double min_ratio);

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_INVERTIBLE_STEP_H_
