#include "sim/dynamics/materials.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/number_range.h"
#include "sim/dynamics/seeded_random.h"

namespace eipc {
namespace {

// Multiplies the friction laws of the pairs that a body is part of. A scene gives these for itself and for pairs, not for
// materials.
constexpr MaterialParameter kFrictionFactor = {"friction_factor", "", "Friction over that of the scene", nullptr,
                                               Bounds::Within(0, 1000)};

// nullptr: the material has no such number.
const MaterialParameter* ParameterOf(const MaterialSpec& material, const MaterialNumber& number) {
  if (number.of_scene == nullptr) return &kFrictionFactor;
  for (const absl::Span<const MaterialParameter> parameters : {CommonMaterialParameters(), material.model->parameters}) {
    for (const MaterialParameter& parameter : parameters) {
      if (parameter.value == number.of_scene) return &parameter;
    }
  }
  return nullptr;
}

// Of the scene. A body whose mass the scene gives (affine.inertia) has the mean density of its mesh.
double NumberOfScene(const SceneMaterial& scene, const MaterialNumber& number) {
  const bool is_density = number.of_scene == &MaterialSpec::density_kg_m3;
  return (is_density ? scene.elements : scene.given).*number.of_scene;
}

bool Slides(const Model& model, int32_t body) {
  return std::any_of(model.sliders.begin(), model.sliders.end(),
                     [&](const Slider& slider) { return model.boundary_sets[slider.boundary_set].body == body; });
}

// FNV-1a of the body's and the number's names.
uint64_t StreamOf(absl::string_view body, absl::string_view number) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const absl::string_view text : {body, absl::string_view("/"), number}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

double Draw(const NumberRange& range, double of_scene, uint64_t stream) {
  SeededRandom random(&stream);
  const double drawn =
      range.logarithmic ? range.min * std::pow(range.max / range.min, random.Unit()) : random.Between(range.min, range.max);
  return std::clamp(drawn, range.min, range.max) * (range.factor ? of_scene : 1);
}

CondensedStiffness Scaled(CondensedStiffness condensed, double factor) {
  for (CondensedStiffness::Cluster& cluster : condensed.clusters) {
    for (double& entry : cluster.stiffness) entry *= factor;
  }
  condensed.bulk_modulus_pa *= factor;
  condensed.shear_modulus_pa *= factor;
  return condensed;
}

void SetModuli(const SceneMaterial& scene, const State::BodyMaterial& material, ElasticBody* elastic) {
  const double youngs = material.youngs_modulus_pa, of_scene = scene.given.youngs_modulus_pa;
  MaterialSpec elements = scene.elements;
  // A calibrated cage keeps its factor; that of any other body is exactly 1.
  if (youngs != of_scene) elements.youngs_modulus_pa = youngs * (elements.youngs_modulus_pa / of_scene);
  if (!scene.fixed_poissons_ratio) elements.poissons_ratio = material.poissons_ratio;
  elastic->material = elements.model->make(elements);
  if (elastic->condensed == nullptr || youngs == of_scene) return;
  elastic->condensed = std::make_shared<const CondensedStiffness>(Scaled(*elastic->condensed, youngs / of_scene));
}

// Of what the body weighs in the scene.
double MassFactor(const State::BodyMaterial& material, const Body& body) {
  const double of_scene = body.scene_material->elements.density_kg_m3;
  return material.density_kg_m3 == of_scene ? 1 : material.density_kg_m3 / of_scene;
}

// Nodes of different bodies do not share mass.
void ScaleMass(double factor, Body* body, ScalarSparse* mass) {
  body->mass.mass *= factor;
  body->mass.inertia *= factor;
  for (int32_t k = mass->row_start[body->nodes.begin]; k < mass->row_start[body->nodes.end]; ++k) mass->values[k] *= factor;
}

// The force of friction at any speed and normal force, by the factor. A body's friction with itself is scaled once.
void ScaleFriction(double factor, int32_t body, PairFriction* friction) {
  const auto scale = [factor](FrictionLaw* law) {
    law->dynamic_coefficient *= factor;
    law->static_coefficient *= factor;
    law->viscous_s_m *= factor;
  };
  const int32_t n = friction->body_count;
  for (int32_t other = 0; other < n; ++other) {
    scale(&friction->laws[body * n + other]);
    if (other != body) scale(&friction->laws[other * n + body]);
  }
}

void Apply(const State::BodyMaterial& material, Model* model) {
  Body& body = model->bodies[material.body];
  const SceneMaterial& scene = *body.scene_material;
  for (ElasticBody& elastic : model->elastic) {
    const int32_t node = elastic.nodes[0][0];
    if (body.nodes.begin <= node && node < body.nodes.end) SetModuli(scene, material, &elastic);
  }
  if (const double factor = MassFactor(material, body); factor != 1) ScaleMass(factor, &body, &model->mass);
  if (material.friction_factor != 1) ScaleFriction(material.friction_factor, material.body, &model->friction);
}

}  // namespace

bool HasNumber(const Model& model, int32_t body, const MaterialNumber& number) {
  const std::optional<SceneMaterial>& scene = model.bodies[body].scene_material;
  return scene && ParameterOf(scene->given, number) != nullptr;
}

std::string MaterialProblem(const Model& model, int32_t body, const MaterialNumber& number) {
  const Body& b = model.bodies[body];
  const auto because = [&](const auto&... why) { return absl::StrCat("'", b.name, "' ", why..., "; name it anew in a scene"); };
  if (!b.scene_material) return because("is ", b.kind, ": a reset cannot change its material");
  const MaterialSpec& given = b.scene_material->given;
  if (!HasNumber(model, body, number)) return because("is of ", given.model->name, ", which has no ", number.name);
  if (number.of_scene == &MaterialSpec::density_kg_m3 && Slides(model, body)) {
    return because("has a slider: a reset cannot change its ", number.name);
  }
  if (number.of_scene == &MaterialSpec::poissons_ratio && b.scene_material->fixed_poissons_ratio) {
    return because("has a cage whose stiffness was condensed or calibrated for its ", number.name);
  }
  return "";
}

Bounds MaterialBounds(const Model& model, int32_t body, const MaterialNumber& number) {
  return ParameterOf(model.bodies[body].scene_material->given, number)->bounds;
}

State::BodyMaterial MaterialOfScene(const Model& model, int32_t body) {
  State::BodyMaterial material;
  material.body = body;
  const std::optional<SceneMaterial>& scene = model.bodies[body].scene_material;
  if (!scene) return material;
  for (const MaterialNumber& number : kMaterialNumbers) {
    if (number.of_scene != nullptr) material.*number.value = NumberOfScene(*scene, number);
  }
  return material;
}

bool MaterialsFit(const std::vector<State::BodyMaterial>& materials, const Model& model) {
  int32_t last = -1;
  for (const State::BodyMaterial& material : materials) {
    const int32_t body = material.body;
    if (body <= last || body >= static_cast<int32_t>(model.bodies.size()) || !model.bodies[body].scene_material) return false;
    last = body;
    const State::BodyMaterial of_scene = MaterialOfScene(model, body);
    for (const MaterialNumber& number : kMaterialNumbers) {
      const double value = material.*number.value;
      if (value == of_scene.*number.value) continue;
      if (!MaterialProblem(model, body, number).empty()) return false;
      if (!MaterialBounds(model, body, number).Contains(value) || value > kLargestNumber) return false;
    }
  }
  return true;
}

std::vector<State::BodyMaterial> StartMaterials(const Model& model, std::vector<State::BodyMaterial> given,
                                                const std::vector<MaterialRange>& ranges, uint64_t seed) {
  for (const MaterialRange& range : ranges) {
    State::BodyMaterial material = MaterialOfScene(model, range.body);
    for (size_t i = 0; i < kMaterialNumbers.size(); ++i) {
      if (!range.numbers[i]) continue;
      const uint64_t stream = seed ^ StreamOf(model.bodies[range.body].name, kMaterialNumbers[i].name);
      double& value = material.*kMaterialNumbers[i].value;
      value = Draw(*range.numbers[i], value, stream);
    }
    given.push_back(material);
  }
  std::sort(given.begin(), given.end(), [](const auto& a, const auto& b) { return a.body < b.body; });
  return given;
}

std::vector<double> MassesWith(const Model& model, const std::vector<State::BodyMaterial>& materials) {
  std::vector<double> masses;
  masses.reserve(model.bodies.size());
  for (const Body& body : model.bodies) masses.push_back(body.mass.mass);
  for (const State::BodyMaterial& material : materials) masses[material.body] *= MassFactor(material, model.bodies[material.body]);
  return masses;
}

std::shared_ptr<const Model> WithMaterials(const Model& model, const std::vector<State::BodyMaterial>& materials) {
  auto changed = std::make_shared<Model>(model);
  for (const State::BodyMaterial& material : materials) Apply(material, changed.get());
  return changed;
}

}  // namespace eipc
