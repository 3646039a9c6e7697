#ifndef EIPC_SIM_MESHING_CONDENSED_STORE_H_
#define EIPC_SIM_MESHING_CONDENSED_STORE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/base/interrupt.h"
#include "sim/mesh/condensed_stiffness.h"
#include "sim/meshing/condense.h"

namespace eipc {

// Keeps condensed stiffnesses from one compilation of a scene to the next. Implementations are thread-safe. A key is all that the
// stiffness depends on within one build of the program, so a store cannot change a result.
class CondensedStore {
 public:
  virtual ~CondensedStore() = default;
  // Bytes that were kept under `key`; nothing where there are none. Damaged ones may be returned: FromBytes refuses them.
  virtual std::optional<std::string> Find(absl::string_view key) = 0;
  // Failures are ignored: the stiffness is then made again.
  virtual void Keep(absl::string_view key, absl::string_view bytes) = 0;
};

// The store of this process; null at the start: everything is made anew. It is not owned and must outlive all calls of
// CondenseOnce.
void SetCondensedStore(CondensedStore* store);
// Condense (condense.h), unless the store has its result, which it gets otherwise. What was interrupted is not kept.
absl::StatusOr<CondensedStiffness> CondenseOnce(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* own,
                                                const ElasticModuli& moduli, Interrupt* interrupt = nullptr);

std::string ToBytes(const CondensedStiffness& condensed);
// Nothing when the bytes are no stiffness of a cage with this number of vertices whose numbers are all finite.
std::optional<CondensedStiffness> FromBytes(absl::string_view bytes, size_t vertices);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_CONDENSED_STORE_H_
