#include "tools/step_log.h"

#include "sim/dynamics/sliders.h"
#include "sim/sensor/energies.h"

namespace eipc {

StepLog::~StepLog() {
  if (file_ != nullptr) std::fclose(file_);
}

absl::Status StepLog::Open(const std::string& path, const Model& model) {
  path_ = path;
  file_ = std::fopen(path.c_str(), "w");
  if (file_ == nullptr) return absl::InvalidArgumentError(path + ": cannot be written");
  std::setvbuf(file_, nullptr, _IOLBF, BUFSIZ);  // every line can be read as soon as its step has been taken
  std::fputs(
      "time_s\toutcome\tlimited_by\tnewton_iterations\tresidual_m_s\tmin_ccd_fraction\ttarget_error_m\tmin_distance_m\tcontacts\t"
      "barrier_stiffness\tnext_barrier_stiffness\tkinetic_j\telastic_j\tgravity_j\tbarrier_j\tvolume_j\twall_s\tsleeping_"
      "bodies\tmissed_targets",
      file_);
  for (size_t i = 0; i < model.sliders.size(); ++i) {
    const std::string name = SliderName(model, i);
    std::fprintf(file_, "\t%s_position_m\t%s_effort_n\t%s_blocked", name.c_str(), name.c_str(), name.c_str());
  }
  for (const Joint& joint : model.joints) {
    const char* name = joint.name.c_str();
    std::fprintf(file_, "\t%s_position\t%s_effort\t%s_force_n\t%s_drift_m", name, name, name, name);
  }
  std::fputc('\n', file_);
  return absl::OkStatus();
}

absl::Status StepLog::Write(const World& world, const std::vector<Vec3>& x) {
  if (file_ == nullptr) return absl::OkStatus();
  const StepReport& r = world.report();
  const Energies e = ComputeEnergies(world, x);
  const int contacts = world.contact_forces().point_triangle_count + world.contact_forces().edge_edge_count;
  const int written = std::fprintf(
      file_, "%.9g\t%s\t%s\t%d\t%.6g\t%.6g\t%.6g\t%.9g\t%d\t%.9g\t%.9g\t%.12g\t%.12g\t%.12g\t%.12g\t%.12g\t%.6g\t%d\t%d",
      world.state().time_s, StepOutcomeName(r.outcome), StepLimitName(r.limited_by), r.newton_iterations, r.residual_m_s,
      r.min_ccd_fraction, r.target_error_m, r.min_distance_m, contacts, r.barrier_stiffness, world.state().barrier_stiffness,
      e.kinetic_j, e.elastic_j, e.gravity_j, e.barrier_j, e.volume_j, r.wall_s, r.sleeping_bodies, r.missed_targets);
  for (const State::Slider& slider : world.state().sliders) {
    std::fprintf(file_, "\t%.9g\t%.9g\t%d", slider.position_m, slider.effort_n, slider.blocked);
  }
  for (const State::Joint& joint : world.state().joints) {
    std::fprintf(file_, "\t%.9g\t%.9g\t%.9g\t%.3g", joint.position, joint.effort, joint.force_n.norm(), joint.drift_m);
  }
  std::fputc('\n', file_);
  return written > 0 && std::ferror(file_) == 0 ? absl::OkStatus()
                                                : absl::InternalError(path_ + ": writing failed (is the disk full?)");
}

absl::Status StepLog::Close() {
  if (file_ == nullptr) return absl::OkStatus();
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) return absl::InternalError(path_ + ": writing failed (is the disk full?)");
  return absl::OkStatus();
}

}  // namespace eipc
