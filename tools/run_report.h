#ifndef EIPC_TOOLS_RUN_REPORT_H_
#define EIPC_TOOLS_RUN_REPORT_H_

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/dynamics/world.h"
#include "sim/sensor/contact_resolution.h"

namespace eipc {

// Gathers what `eipc run` reports, step by step.
class RunReport {
 public:
  RunReport(const Model* model, std::string scene, double dt_s, int threads);

  // After every step.
  void Add(const World& world, const std::vector<Vec3>& x);
  const StateAudit& audit() const { return audit_; }
  // Complete after their time limit.
  int64_t late_steps() const { return substeps_.late; }
  double real_time_factor() const { return wall_s_ > 0 ? sim_time_s_ / wall_s_ : 0; }

  // The document described in docs/reference/eipc_run.md.
  nlohmann::ordered_json ToJson(const World& world, const std::vector<Vec3>& x) const;
  // Says on standard error which surfaces resolve a contact with too few triangles.
  void WarnOfCoarseContacts() const;

 private:
  // Of the steps' reports, in floating point; the audit's are exact.
  struct Inversions {
    int64_t most = 0;   // elements that a step ended with
    int64_t steps = 0;  // that ended with some
  };
  // Of a joint, over the steps.
  struct JointExtremes {
    double drift_m = 0;
    double force_n = 0;
    double moment_nm = 0;
  };
  // Sums over the steps in which the object is held: vertical forces on it, of contact and of friction alone.
  struct Holding {
    int64_t steps = 0;
    double force_n = 0;
    double friction_n = 0;
  };
  struct Substeps {
    StructureBreaks breaks;
    int64_t taken = 0;
    int64_t refused = 0;
    int64_t fallback = 0;
    int64_t late = 0;  // complete after their time limit
  };

  nlohmann::ordered_json ContactForcesJson(const World& world, const std::vector<Vec3>& x) const;
  nlohmann::ordered_json ContactResolutionJson() const;
  bool IsCoarse(const ContactResolution& resolution) const;
  nlohmann::ordered_json DrivesJson(const State& state) const;
  nlohmann::ordered_json JointsJson(const State& state) const;
  static nlohmann::ordered_json JointDriveJson(const State::Slider& drive);
  nlohmann::ordered_json BodiesJson(const World& world, const std::vector<Vec3>& x) const;
  // Says on standard error when elements are inverted for the first time.
  void AddInversions(int64_t elements);
  void AddHolding(const World& world, const std::vector<Vec3>& x);

  const Model* model_;
  std::string scene_;
  double dt_s_;
  int threads_;
  StateAudit audit_;
  int64_t exact_rejections_ = 0;
  Inversions inversions_;
  int64_t steps_ = 0;
  double sim_time_s_ = 0;
  double wall_s_ = 0;
  int64_t newton_total_ = 0;
  int newton_max_ = 0;
  int64_t contacts_total_ = 0;
  int contacts_max_ = 0;
  double min_distance_m_;
  int64_t steps_not_converged_ = 0;
  int64_t friction_solves_ = 0;
  int64_t friction_fallbacks_ = 0;
  int64_t krylov_iterations_ = 0;
  int64_t direct_solves_ = 0;
  int64_t kept_matrices_ = 0;
  Substeps substeps_;
  std::vector<JointExtremes> joints_;  // one per Model::joints
  int sleeping_bodies_ = 0;            // in the last step
  int64_t wake_retries_ = 0;
  std::map<std::string, int64_t> limited_;  // steps by what limited them
  PhaseSeconds phase_s_ = {};
  Holding holding_;
  ContactResolutionMeter resolution_;
};

}  // namespace eipc

#endif  // EIPC_TOOLS_RUN_REPORT_H_
