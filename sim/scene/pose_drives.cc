#include "sim/scene/pose_drives.h"

#include <Eigen/LU>
#include <cmath>

namespace eipc {
namespace {

void CheckAxis(const PoseDriveGains& gains, int axis, const std::string& path, Problems* problems) {
  struct Number {
    const char* name;
    double value;
  };
  for (const Number& n : {Number{"stiffness_n_m", gains.stiffness[axis]}, Number{"damping_n_s_m", gains.damping[axis]},
                          Number{"max_force_n", gains.max_force[axis]}}) {
    const bool good = std::isfinite(n.value) && n.value >= 0;
    if (!good) problems->Add(absl::StrCat(path, ".", n.name, ".", std::string(1, "xyz"[axis])), "must be >= 0, got ", n.value);
  }
  if ((gains.stiffness[axis] > 0 || gains.damping[axis] > 0) && gains.max_force[axis] == 0) {
    problems->Add(absl::StrCat(path, ".max_force_n.", std::string(1, "xyz"[axis])),
                  "must be > 0, since there is stiffness or damping along this axis");
  }
}

void CheckTurns(const PoseDriveGains& gains, const std::string& path, Problems* problems) {
  struct Number {
    const char* name;
    double value;
  };
  for (const Number& n : {Number{"stiffness_nm_rad", gains.turn_stiffness}, Number{"damping_nm_s_rad", gains.turn_damping},
                          Number{"max_moment_nm", gains.max_moment}}) {
    const bool good = std::isfinite(n.value) && n.value >= 0;
    if (!good) problems->Add(absl::StrCat(path, ".", n.name), "must be >= 0, got ", n.value);
  }
  if ((gains.turn_stiffness > 0 || gains.turn_damping > 0) && gains.max_moment == 0) {
    problems->Add(path + ".max_moment_nm", "must be > 0, since there is stiffness_nm_rad or damping_nm_s_rad");
  }
}

}  // namespace

void CheckPoseDrive(const BodySpec& body, const std::string& body_path, Problems* problems) {
  if (!body.pose_drive) return;
  const std::string path = body_path + ".pose_drive";
  const BodyTraits& traits = RowOf(body.kind).traits;
  if (traits.deforms || !traits.reacts) {
    problems->Add(path, "draws affine bodies only, and this one is ", RowOf(body.kind).name,
                  traits.deforms ? "; attach it to an affine body, and draw that" : "; make it an affine one");
  }
  if (body.slider) problems->Add(path, "the body has a slider; leave one of the two out");
  const PoseDriveGains& gains = *body.pose_drive;
  for (int axis = 0; axis < 3; ++axis) CheckAxis(gains, axis, path, problems);
  CheckTurns(gains, path, problems);
  const bool exerts = gains.max_force.maxCoeff() > 0 || gains.max_moment > 0;
  if (!exerts && problems->empty()) problems->Add(path, "gives no stiffness and no damping, so it would exert nothing");
}

void AddPoseDrive(const PoseDriveGains& gains, Model* model) {
  BoundarySet& set = model->boundary_sets.back();
  if (set.nodes.size() != 4) return;  // CheckPoseDrive refused the body, and its problem is reported with those of the others
  set.slides = true;
  PoseDrive drive;
  drive.boundary_set = static_cast<int32_t>(model->boundary_sets.size()) - 1;
  drive.gains = gains;
  // Barycentric coordinates of a point p of the frame: inverse * (p, 1).
  Eigen::Matrix4d corners;
  for (int k = 0; k < 4; ++k) corners.col(k) << set.local_positions[k], 1;
  const Eigen::Matrix4d inverse = corners.inverse();
  const auto vector_of = [&](int column) {
    EmbeddingRow row;
    row.count = 4;
    for (int k = 0; k < 4; ++k) {
      row.nodes[k] = set.nodes[k];
      row.weights[k] = inverse(k, column);
    }
    LinearVector vector;
    vector.Add(1, row, Vec3::Zero());
    return vector;
  };
  for (int k = 0; k < 3; ++k) drive.frame.axes[k] = vector_of(k);
  drive.frame.origin = vector_of(3);
  model->pose_drives.push_back(std::move(drive));
}

}  // namespace eipc
