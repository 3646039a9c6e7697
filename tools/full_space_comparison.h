#ifndef EIPC_TOOLS_FULL_SPACE_COMPARISON_H_
#define EIPC_TOOLS_FULL_SPACE_COMPARISON_H_

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/dynamics/world.h"
#include "tools/full_space_scene.h"
#include "tools/surface_deflection.h"

namespace eipc {

// Runs a scene in full space beside its run with cages, step by step, and reports how far forces and deflections differ
// (docs/reference/eipc_run.md).
class FullSpaceComparison {
 public:
  // `coarse`: the scene as it is. INVALID_ARGUMENT when it cannot be made in full space.
  static absl::StatusOr<std::unique_ptr<FullSpaceComparison>> Create(const SceneSpec& spec, std::shared_ptr<const Model> coarse,
                                                                     int threads);

  // After each step of the coarse world: takes the same step in full space. The first failure ends the comparison; Report says so.
  void Step(const World& coarse, double dt_s);
  // The comparison so far, or why a step failed.
  absl::StatusOr<nlohmann::ordered_json> Report() const;

 private:
  // A history of the cage's and the object's figure, and of the norm of their difference.
  struct History {
    double coarse_peak = 0, full_peak = 0;
    double coarse_end = 0, full_end = 0;
    double difference_squares = 0, difference_max = 0;
    void Add(double coarse, double full, double difference);
    nlohmann::ordered_json ToJson(const std::string& unit, int64_t steps) const;
    nlohmann::ordered_json Error(int64_t steps) const;
  };
  struct Deflections {
    ComparedBody compared;
    SurfaceDeflection coarse, full;
    History history;
  };

  FullSpaceComparison(std::shared_ptr<const Model> coarse, std::shared_ptr<const Model> full,
                      const std::vector<ComparedBody>& compared, int threads);

  // Normal forces by pair of bodies, the lower index first, N.
  void AddForces(const std::map<std::pair<int32_t, int32_t>, Vec3>& coarse,
                 const std::map<std::pair<int32_t, int32_t>, Vec3>& full);
  nlohmann::ordered_json ContactsJson() const;
  nlohmann::ordered_json BodiesJson() const;
  // The largest errors of contacts that carry at least a tenth of the largest force.
  nlohmann::ordered_json ForceErrorJson() const;

  std::shared_ptr<const Model> coarse_;
  World world_;  // in full space
  absl::Status status_;
  std::vector<Deflections> bodies_;
  std::map<std::pair<int32_t, int32_t>, History> contacts_;  // pairs that touched so far
  int64_t steps_ = 0;
  double wall_s_ = 0;
  int64_t steps_not_converged_ = 0;
  int64_t inverted_most_ = 0;
};

}  // namespace eipc

#endif  // EIPC_TOOLS_FULL_SPACE_COMPARISON_H_
