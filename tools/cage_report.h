#ifndef EIPC_TOOLS_CAGE_REPORT_H_
#define EIPC_TOOLS_CAGE_REPORT_H_

#include <nlohmann/json_fwd.hpp>

#include "sim/meshing/auto_cage.h"
#include "sim/meshing/prepare_sheet.h"

namespace eipc {

// The document of docs/howto/cages.md, but for what only the command knows (file, units, seconds, locking).
nlohmann::ordered_json CageReport(const AutoCage& result, int budget);

// The same of a mesh that becomes a shell.
nlohmann::ordered_json SheetReport(const PreparedSheet& sheet, double thickness_m);

// Whether a body of this stiffness is better simulated as affine, and why, in numbers.
nlohmann::ordered_json AffineReport(const AutoCage& result, double youngs_modulus_pa);

// The cage's stiffness over that of the object's own tets where they are sound, else of a finer lattice, and the remedy
// (docs/howto/cages.md).
nlohmann::ordered_json LockingReport(const CageLocking& locking);

// How far the cage's forces are off in the loads of LockingReport (docs/howto/cages.md).
nlohmann::ordered_json CageErrorReport(const FoundCageError& found);

}  // namespace eipc

#endif  // EIPC_TOOLS_CAGE_REPORT_H_
