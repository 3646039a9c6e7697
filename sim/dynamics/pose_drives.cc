#include "sim/dynamics/pose_drives.h"

#include <algorithm>

namespace eipc {

std::vector<PoseStage> StagePoses(const Model& model, const PartCommands& part, double end, double before) {
  std::vector<PoseStage> stages;
  for (const PoseDrive& drive : model.pose_drives) {
    const Pose &start = part.start.drives[drive.boundary_set].commanded, &goal = part.drives[drive.boundary_set].commanded;
    stages.push_back({Between(start, goal, end), Between(start, goal, before)});
  }
  return stages;
}

void MeasurePoseDrives(const Model& model, const State& from, double dt_s, const std::vector<PoseDriveLoad>& loads, State* next) {
  for (size_t i = 0; i < model.pose_drives.size(); ++i) {
    const PoseDrive& drive = model.pose_drives[i];
    const BoundarySet& set = model.boundary_sets[drive.boundary_set];
    State::PoseDrive& seen = next->pose_drives[i];
    seen.force_n = loads[i].force;
    seen.moment_nm = loads[i].moment;
    seen.saturated = loads[i].saturated;
    const Vec3 velocity = (drive.frame.origin.At(next->q) - drive.frame.origin.At(from.q)) / dt_s;
    const double along = velocity.dot(loads[i].force.stableNormalized());
    seen.blocked = seen.saturated && along < model.contact.friction_velocity_m_s;
    State::Drive& command = next->drives[drive.boundary_set];
    command.error_m = 0;
    for (size_t k = 0; k < set.nodes.size(); ++k) {
      const Vec3 place = command.commanded.Apply(set.local_positions[k]);
      command.error_m = std::max(command.error_m, (next->q.segment<3>(3 * set.nodes[k]) - place).norm());
    }
  }
}

}  // namespace eipc
