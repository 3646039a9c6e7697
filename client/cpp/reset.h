#ifndef EIPC_CLIENT_CPP_RESET_H_
#define EIPC_CLIENT_CPP_RESET_H_

// How an episode begins: where bodies start and what they are made of, given or drawn with a seed. SI units, world frame.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cpp/geometry.h"
#include "client/cpp/types.h"

namespace eipc::client {

// Moves a body that nothing drives rigidly from where the scene places it. Where neither velocity is given the body has its
// velocity in the scene, turned with it; a single one stands beside zero.
struct Placement {
  std::string body;
  Vector3 translation_m = {0, 0, 0};
  std::array<double, 4> rotation_wxyz = {1, 0, 0, 0};  // about the body's centre of mass
  std::optional<Vector3> linear_velocity_m_s = {};
  std::optional<Vector3> angular_velocity_rad_s = {};
};

// Each component is drawn uniformly between its bounds.
struct VectorBounds {
  Vector3 min = {0, 0, 0};
  Vector3 max = {0, 0, 0};
};

// From which a Placement is drawn. The rotation is by an angle between -rotation_max_rad and rotation_max_rad (at most pi) about
// rotation_axis, without one about an axis drawn uniformly from all directions. Velocities are drawn where bounds are given.
struct PlacementRange {
  std::string body;
  VectorBounds translation_m = {};
  std::optional<Vector3> rotation_axis = {};
  double rotation_max_rad = 0;
  std::optional<VectorBounds> linear_velocity_m_s = {};
  std::optional<VectorBounds> angular_velocity_rad_s = {};
};

// A number that is drawn uniformly from [min, max].
struct NumberRange {
  double min = 0;
  double max = 0;
  bool logarithmic = false;  // its logarithm is drawn uniformly; min > 0
  bool factor = false;       // what is drawn multiplies the scene's number
};

// Numbers of a body's material that are drawn; others are the scene's.
struct MaterialRange {
  std::string body;
  std::optional<NumberRange> youngs_modulus_pa = {};
  std::optional<NumberRange> poissons_ratio = {};
  std::optional<NumberRange> density_kg_m3 = {};
  std::optional<NumberRange> friction_factor = {};
};

// A body is named once in `placements` and `ranges` together, and once in `materials` and `material_ranges` together.
struct ResetOptions {
  Observe observe = {};
  int world = 0;
  std::vector<Placement> placements = {};
  // Kept until the world's next reset; the answer's Observation::materials have them unasked.
  std::vector<BodyMaterial> materials = {};
  // The same seed and ranges give the same bits.
  uint64_t seed = 0;
  std::vector<PlacementRange> ranges = {};
  std::vector<MaterialRange> material_ranges = {};
  // The most draws: one in which surfaces meet is repeated. 0: 100.
  int attempts = 0;
};

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_RESET_H_
