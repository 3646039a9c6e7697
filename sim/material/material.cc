#include "sim/material/material.h"

#include <array>
#include <utility>

namespace eipc {
namespace {

constexpr MaterialParameter kCommon[] = {
    {"density_kg_m3", "kg/m^3", "density", &MaterialSpec::density_kg_m3, Bounds::Positive()},
    {"rayleigh_alpha_per_s", "1/s", "damping proportional to mass", &MaterialSpec::rayleigh_alpha_per_s, Bounds::NotNegative()},
    {"rayleigh_beta_s", "s", "damping proportional to stiffness", &MaterialSpec::rayleigh_beta_s, Bounds::NotNegative()},
    {"strain_damping_s", "s", "damping of the rate of strain", &MaterialSpec::strain_damping_s, Bounds::NotNegative()},
};

template <size_t... kIndex>
constexpr auto DescriptorsOf(std::index_sequence<kIndex...>) {
  return std::array<MaterialModel, sizeof...(kIndex)>{&std::variant_alternative_t<kIndex, Material>::kDescriptor...};
}
constexpr auto kMaterials = DescriptorsOf(std::make_index_sequence<std::variant_size_v<Material>>());

}  // namespace

absl::Span<const MaterialModel> Materials() { return kMaterials; }

MaterialModel FindMaterial(absl::string_view name) {
  for (const MaterialModel material : kMaterials) {
    if (material->name == name) return material;
  }
  return nullptr;
}

absl::Span<const MaterialParameter> CommonMaterialParameters() { return kCommon; }

}  // namespace eipc
