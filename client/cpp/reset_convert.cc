#include "client/cpp/reset_convert.h"

#include <algorithm>

#include "client/cpp/convert.h"

namespace eipc::client {
namespace {

void PlacementToProto(const Placement& placement, v1::Placement* out) {
  out->set_body(placement.body);
  VectorToProto(placement.translation_m, out->mutable_translation_m());
  QuaternionToProto(placement.rotation_wxyz, out->mutable_rotation());
  if (placement.linear_velocity_m_s) VectorToProto(*placement.linear_velocity_m_s, out->mutable_linear_velocity_m_s());
  if (placement.angular_velocity_rad_s) VectorToProto(*placement.angular_velocity_rad_s, out->mutable_angular_velocity_rad_s());
}

void RangeToProto(const PlacementRange& range, v1::PlacementRange* out) {
  out->set_body(range.body);
  VectorToProto(range.translation_m.min, out->mutable_translation_min_m());
  VectorToProto(range.translation_m.max, out->mutable_translation_max_m());
  if (range.rotation_axis) VectorToProto(*range.rotation_axis, out->mutable_rotation_axis());
  out->set_rotation_max_rad(range.rotation_max_rad);
  if (range.linear_velocity_m_s) {
    VectorToProto(range.linear_velocity_m_s->min, out->mutable_linear_velocity_min_m_s());
    VectorToProto(range.linear_velocity_m_s->max, out->mutable_linear_velocity_max_m_s());
  }
  if (range.angular_velocity_rad_s) {
    VectorToProto(range.angular_velocity_rad_s->min, out->mutable_angular_velocity_min_rad_s());
    VectorToProto(range.angular_velocity_rad_s->max, out->mutable_angular_velocity_max_rad_s());
  }
}

void MaterialToProto(const BodyMaterial& material, v1::BodyMaterial* out) {
  out->set_body(material.body);
  if (material.youngs_modulus_pa) out->set_youngs_modulus_pa(*material.youngs_modulus_pa);
  if (material.poissons_ratio) out->set_poissons_ratio(*material.poissons_ratio);
  if (material.density_kg_m3) out->set_density_kg_m3(*material.density_kg_m3);
  if (material.friction_factor) out->set_friction_factor(*material.friction_factor);
}

void NumberRangeToProto(const NumberRange& range, v1::NumberRange* out) {
  out->set_min(range.min);
  out->set_max(range.max);
  out->set_logarithmic(range.logarithmic);
  out->set_factor(range.factor);
}

void MaterialRangeToProto(const MaterialRange& range, v1::MaterialRange* out) {
  out->set_body(range.body);
  if (range.youngs_modulus_pa) NumberRangeToProto(*range.youngs_modulus_pa, out->mutable_youngs_modulus_pa());
  if (range.poissons_ratio) NumberRangeToProto(*range.poissons_ratio, out->mutable_poissons_ratio());
  if (range.density_kg_m3) NumberRangeToProto(*range.density_kg_m3, out->mutable_density_kg_m3());
  if (range.friction_factor) NumberRangeToProto(*range.friction_factor, out->mutable_friction_factor());
}

}  // namespace

v1::ResetRequest ResetToProto(const std::string& session, const ResetOptions& options) {
  v1::ResetRequest request;
  request.set_session(session);
  request.set_world(options.world);
  ObserveToProto(options.observe, request.mutable_observe());
  for (const Placement& placement : options.placements) PlacementToProto(placement, request.add_placements());
  for (const BodyMaterial& material : options.materials) MaterialToProto(material, request.add_materials());
  if (options.ranges.empty() && options.material_ranges.empty()) return request;
  v1::Randomize& drawn = *request.mutable_randomize();
  drawn.set_seed(options.seed);
  drawn.set_attempts(options.attempts);
  for (const PlacementRange& range : options.ranges) RangeToProto(range, drawn.add_ranges());
  for (const MaterialRange& range : options.material_ranges) MaterialRangeToProto(range, drawn.add_materials());
  return request;
}

std::vector<const char*> NeededCapabilities(const ResetOptions& options) {
  std::vector<const char*> needed;
  if (!options.materials.empty() || !options.material_ranges.empty()) needed.push_back("reset_materials");
  const auto rubs = [](const auto& material) { return material.friction_factor.has_value(); };
  if (std::any_of(options.materials.begin(), options.materials.end(), rubs) ||
      std::any_of(options.material_ranges.begin(), options.material_ranges.end(), rubs)) {
    needed.push_back("reset_friction");
  }
  return needed;
}

}  // namespace eipc::client
