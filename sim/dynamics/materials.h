#ifndef EIPC_SIM_DYNAMICS_MATERIALS_H_
#define EIPC_SIM_DYNAMICS_MATERIALS_H_

// Materials that a reset gives to bodies in place of the scene's, within one compiled model: what does not depend on them is
// kept, what does is scaled or made anew.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/base/parameter.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/material/material.h"

namespace eipc {

// A number of a material that a reset may change.
struct MaterialNumber {
  absl::string_view name;          // as MaterialParameter::name
  double MaterialSpec::*of_scene;  // nullptr: no parameter of the scene's material, and 1 there
  double State::BodyMaterial::*value;
};
inline constexpr std::array<MaterialNumber, 4> kMaterialNumbers = {{
    {"youngs_modulus_pa", &MaterialSpec::youngs_modulus_pa, &State::BodyMaterial::youngs_modulus_pa},
    {"poissons_ratio", &MaterialSpec::poissons_ratio, &State::BodyMaterial::poissons_ratio},
    {"density_kg_m3", &MaterialSpec::density_kg_m3, &State::BodyMaterial::density_kg_m3},
    {"friction_factor", nullptr, &State::BodyMaterial::friction_factor},
}};

// Drawn uniformly between the bounds, or with its logarithm uniform between theirs.
struct NumberRange {
  double min = 0, max = 0;
  bool logarithmic = false;
  bool factor = false;  // what is drawn multiplies the scene's number
};

// In the order of kMaterialNumbers; what has no range is the scene's.
struct MaterialRange {
  int32_t body = 0;
  std::array<std::optional<NumberRange>, kMaterialNumbers.size()> numbers;
};

// Whether the body's material has this number: not every material has a Poisson's ratio.
bool HasNumber(const Model& model, int32_t body, const MaterialNumber& number);
// Why no reset can change this number of the body. Empty when one can.
std::string MaterialProblem(const Model& model, int32_t body, const MaterialNumber& number);
// The values that the number may have. Precondition: a reset can change it.
Bounds MaterialBounds(const Model& model, int32_t body, const MaterialNumber& number);
// The scene's numbers of a body, which may be one without a material: then the others than friction_factor are 0.
State::BodyMaterial MaterialOfScene(const Model& model, int32_t body);

// Whether a state of the scene may have these.
bool MaterialsFit(const std::vector<State::BodyMaterial>& materials, const Model& model);

// Those given and those drawn, by body; no body is named twice. Each number is drawn from a stream of its own, of the seed, the
// body's name and its own: it does not depend on what else is drawn.
std::vector<State::BodyMaterial> StartMaterials(const Model& model, std::vector<State::BodyMaterial> given,
                                                const std::vector<MaterialRange>& ranges, uint64_t seed);

// What the bodies weigh with these materials, which fit the model: of all of its bodies, kg.
std::vector<double> MassesWith(const Model& model, const std::vector<State::BodyMaterial>& materials);

// The model with these materials, which fit it. `model` is the scene's. The stiffness of a condensed cage, the
// masses and the friction laws of pairs are scaled (a pair of two changed bodies by both factors); what the scene was compiled with
// besides stays: the stiffness of joints, solver settings, a start in equilibrium.
std::shared_ptr<const Model> WithMaterials(const Model& model, const std::vector<State::BodyMaterial>& materials);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_MATERIALS_H_
