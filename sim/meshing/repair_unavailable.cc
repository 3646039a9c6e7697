// What a build without the GPL parts answers.
#include <string>

#include "sim/meshing/repair_steps.h"
#include "sim/meshing/sheet_steps.h"

namespace eipc {
namespace {
absl::Status Unavailable(const char* what) {
  return absl::UnimplementedError(std::string(what) + " is a GPL part of CGAL, and this build has none (EIPC_GPL=OFF)");
}
}  // namespace

absl::StatusOr<SoupRepair> RepairSoup(const MeshData&, double) { return Unavailable("repairing soups"); }
absl::StatusOr<MeshData> RemoveSelfIntersections(const MeshData&) { return Unavailable("removing self-intersections"); }
absl::StatusOr<MeshData> WrapSoup(const MeshData&, double, double) { return Unavailable("alpha wrapping"); }
absl::StatusOr<MeshData> Decimate(const MeshData&, int64_t) { return Unavailable("edge collapse"); }
absl::StatusOr<MeshData> RemeshSheet(const MeshData&, double) { return Unavailable("remeshing"); }

}  // namespace eipc
