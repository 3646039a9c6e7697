#include "sim/robot/import_parts.h"

#include <Eigen/Eigenvalues>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/read_mesh.h"

namespace eipc {

absl::Status JoinProblems(const std::vector<std::string>& problems) {
  return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

absl::StatusOr<std::string> ReadDescription(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return absl::NotFoundError(absl::StrCat(file, ": cannot be read"));
  return text.str();
}

InertiaCheck CheckInertia(const Mat3& inertia) {
  const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(inertia, Eigen::EigenvaluesOnly).eigenvalues();
  const double rounding = 1e-6 * moments.cwiseAbs().maxCoeff();
  InertiaCheck check;
  if (moments[0] < -rounding) {
    check.problem = absl::StrCat("its principal moments must be >= 0, the least is ", moments[0]);
  } else if (moments[0] + moments[1] < moments[2] - rounding) {
    check.warning = absl::StrCat("no solid has the principal moments ", moments[0], ", ", moments[1], ", ", moments[2],
                                 ": the largest exceeds the sum of the others");
  }
  return check;
}

absl::StatusOr<MeshShape> ReadMeshShape(const std::string& reference, const Vec3& scale, const std::string& description,
                                        const PackageFolders& packages) {
  MeshShape out;
  out.reference = reference;
  out.scale = scale;
  const absl::StatusOr<std::string> file = FindMeshFile(reference, description, packages);
  if (!file.ok()) {
    return absl::Status(file.status().code(), absl::StrCat("\"", reference, "\": ", file.status().message()));
  }
  out.file = *file;
  EIPC_ASSIGN_OR_RETURN(const MeshData mesh, ReadMesh(*file));
  out.vertices = static_cast<int64_t>(mesh.vertices.size());
  out.triangles = static_cast<int64_t>(mesh.triangles.size());
  out.tets = static_cast<int64_t>(mesh.tets.size());
  return out;
}

std::optional<Mimic> FollowToLast(const Robot& robot, size_t joint) {
  Mimic total = *robot.joints[joint].mimic;
  for (size_t followed = 0; robot.joints[total.joint].mimic; ++followed) {
    if (total.joint == static_cast<int32_t>(joint) || followed > robot.joints.size()) return std::nullopt;
    const Mimic& next = *robot.joints[total.joint].mimic;
    total = {next.joint, total.multiplier * next.multiplier, total.multiplier * next.offset + total.offset};
  }
  return total;
}

}  // namespace eipc
