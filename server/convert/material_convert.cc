#include "server/convert/material_convert.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "eipc/v1/observation.pb.h"
#include "eipc/v1/service.pb.h"
#include "sim/base/number_range.h"
#include "sim/dynamics/materials.h"

namespace eipc {
namespace {

constexpr int kMostProblems = 20;

const google::protobuf::FieldDescriptor* FieldOf(const google::protobuf::Message& message, const MaterialNumber& number) {
  return message.GetDescriptor()->FindFieldByName(std::string(number.name));
}

bool Has(const google::protobuf::Message& message, const MaterialNumber& number) {
  return message.GetReflection()->HasField(message, FieldOf(message, number));
}

// The body that a message names, -1 with a problem when it is none with a material. A body is named once in all.
template <typename T>
int32_t FindNamed(const Model& model, const T& message, const std::string& path, std::set<int32_t>* named, Problems* problems) {
  const int32_t body = model.FindBody(message.body());
  if (body < 0) {
    problems->Add(path + ".body", "no body '", absl::CEscape(message.body()), "'");
    return -1;
  }
  if (!model.bodies[body].scene_material) {
    problems->Add(path + ".body", MaterialProblem(model, body, kMaterialNumbers[0]));
    return -1;
  }
  if (!named->insert(body).second) problems->Add(path + ".body", "'", message.body(), "' is named twice");
  return body;
}

// Whether a reset can change the number; else a problem was added.
bool CanChange(const Model& model, int32_t body, const MaterialNumber& number, const std::string& path, Problems* problems) {
  const std::string problem = MaterialProblem(model, body, number);
  if (!problem.empty()) problems->Add(path, problem);
  return problem.empty();
}

// Empty: the number may be used.
std::string NumberProblem(double value, const Bounds& bounds) {
  if (!bounds.Contains(value)) return absl::StrCat("must be ", bounds.Text(), ", got ", value);
  return value > kLargestNumber ? absl::StrCat("must be at most ", kLargestNumber, ", got ", value) : "";
}

State::BodyMaterial MaterialFromProto(const Model& model, int32_t body, const v1::BodyMaterial& message, const std::string& path,
                                      Problems* problems) {
  State::BodyMaterial material = MaterialOfScene(model, body);
  for (const MaterialNumber& number : kMaterialNumbers) {
    const std::string at = absl::StrCat(path, ".", number.name);
    if (!Has(message, number) || !CanChange(model, body, number, at, problems)) continue;
    const double value = message.GetReflection()->GetDouble(message, FieldOf(message, number));
    const std::string problem = NumberProblem(value, MaterialBounds(model, body, number));
    if (!problem.empty()) problems->Add(at, problem);
    material.*number.value = value;
  }
  return material;
}

NumberRange RangeFromProto(const v1::NumberRange& message, double of_scene, const Bounds& bounds, const std::string& path,
                           Problems* problems) {
  const NumberRange range = {message.min(), message.max(), message.logarithmic(), message.factor()};
  if (range.min > range.max) problems->Add(path, "the minimum must not be above the maximum");
  if (range.logarithmic && !(range.min > 0)) problems->Add(path + ".min", "must be > 0 for its logarithm, got ", range.min);
  const double factor = range.factor ? of_scene : 1;
  for (const double end : {range.min * factor, range.max * factor}) {
    const std::string problem = NumberProblem(end, bounds);
    if (!problem.empty()) problems->Add(path, "what is drawn ", problem, " at an end");
  }
  return range;
}

MaterialRange MaterialRangeFromProto(const Model& model, int32_t body, const v1::MaterialRange& message, const std::string& path,
                                     Problems* problems) {
  MaterialRange range;
  range.body = body;
  const State::BodyMaterial of_scene = MaterialOfScene(model, body);
  for (size_t i = 0; i < kMaterialNumbers.size(); ++i) {
    const MaterialNumber& number = kMaterialNumbers[i];
    const std::string at = absl::StrCat(path, ".", number.name);
    if (!Has(message, number) || !CanChange(model, body, number, at, problems)) continue;
    const auto& given = static_cast<const v1::NumberRange&>(message.GetReflection()->GetMessage(message, FieldOf(message, number)));
    range.numbers[i] = RangeFromProto(given, of_scene.*number.value, MaterialBounds(model, body, number), at, problems);
  }
  return range;
}

}  // namespace

void StartMaterialsFromProto(const Model& model, const v1::ResetRequest& request, StartOrder* order, Problems* problems) {
  std::set<int32_t> named;
  for (int i = 0; i < request.materials_size() && problems->count() < kMostProblems; ++i) {
    const std::string path = absl::StrCat("materials[", i, "]");
    const int32_t body = FindNamed(model, request.materials(i), path, &named, problems);
    if (body >= 0) order->materials.push_back(MaterialFromProto(model, body, request.materials(i), path, problems));
  }
  const v1::Randomize& randomize = request.randomize();
  for (int i = 0; i < randomize.materials_size() && problems->count() < kMostProblems; ++i) {
    const std::string path = absl::StrCat("randomize.materials[", i, "]");
    const int32_t body = FindNamed(model, randomize.materials(i), path, &named, problems);
    if (body >= 0) order->material_ranges.push_back(MaterialRangeFromProto(model, body, randomize.materials(i), path, problems));
  }
}

void MaterialsToProto(const Model& model, const State& state, v1::Observation* out) {
  for (const State::BodyMaterial& material : state.materials) {
    v1::BodyMaterial& seen = *out->add_materials();
    seen.set_body(model.bodies[material.body].name);
    for (const MaterialNumber& number : kMaterialNumbers) {
      if (!HasNumber(model, material.body, number)) continue;
      seen.GetReflection()->SetDouble(&seen, FieldOf(seen, number), material.*number.value);
    }
  }
}

}  // namespace eipc
