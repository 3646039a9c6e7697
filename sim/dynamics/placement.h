#ifndef EIPC_SIM_DYNAMICS_PLACEMENT_H_
#define EIPC_SIM_DYNAMICS_PLACEMENT_H_

// Starts that differ from the scene's: free bodies are moved rigidly from where the scene places them, by given amounts or by
// amounts that are drawn from ranges, and bodies have other materials (materials.h).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/types.h"
#include "sim/dynamics/materials.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// Where the scene itself places the vertices of its surfaces, m.
std::vector<Vec3> PlacedSurface(const Model& model);

// World frame. A velocity that is not given is that of the scene, turned with the body.
struct Placement {
  int32_t body = 0;
  Vec3 translation = Vec3::Zero();
  Quat rotation = Quat::Identity();  // about the body's centre of mass
  std::optional<Vec3> linear_velocity, angular_velocity;
};

// Each component is drawn uniformly between its bounds, the angle of the rotation between -max_angle and max_angle.
struct PlacementRange {
  struct Bounds {
    Vec3 min = Vec3::Zero(), max = Vec3::Zero();
  };
  int32_t body = 0;
  Bounds translation;
  std::optional<Vec3> axis;  // unit; without one it is drawn uniformly from all directions
  double max_angle = 0;
  std::optional<Bounds> linear_velocity, angular_velocity;
};

// Why this body cannot be placed: it does not move freely. Empty when it can.
std::string PlacementProblem(const Model& model, int32_t body);

struct StartOrder {
  std::vector<Placement> placements;
  std::vector<PlacementRange> ranges;  // of other bodies
  uint64_t seed = 0;
  int attempts = 1;  // draws of all placements together, until no surfaces meet
  std::vector<State::BodyMaterial> materials;
  std::vector<MaterialRange> material_ranges;  // of other bodies; drawn once
};

// Makes the starts that an order describes, one after the other, each checked by exact predicates. The same order gives the same
// bits.
class StartDraws {
 public:
  // `model`: of the scene, outlives this.
  StartDraws(const Model* model, StartOrder order);

  // Whether there is another one: without ranges there is one in all.
  bool Left() const { return taken_ < (order_.ranges.empty() ? 1 : order_.attempts); }
  // The next one; nullopt where surfaces meet, a body lies inside another or is closer to a shell than their thickness allows.
  std::optional<State> Next();
  // FAILED_PRECONDITION (NO_FREE_START), with the conflict of the last attempt.
  absl::Status Failure() const;

 private:
  const Model* model_;
  StartOrder order_;
  State base_;       // with the placements and materials
  uint64_t random_;  // state of the generator
  int taken_ = 0;
  std::string conflict_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_PLACEMENT_H_
