#include "server/convert/shell_convert.h"

#include <algorithm>
#include <limits>

#include "eipc/v1/observation.pb.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/array_convert.h"
#include "server/convert/geometry_convert.h"

namespace eipc {
namespace {

// [n,2].
void PairsToProto(const std::vector<Vec2>& pairs, bool float32, v1::NdArray* out) {
  std::vector<double> numbers;
  for (const Vec2& pair : pairs) numbers.insert(numbers.end(), {pair[0], pair[1]});
  NumbersToProto(numbers, float32, out);
  out->set_shape(0, static_cast<int64_t>(pairs.size()));
  out->add_shape(2);
}

}  // namespace

ShellSpec ShellFromProto(const v1::ShellBody& message) {
  ShellSpec spec;
  spec.thickness_m = message.thickness_m();
  if (message.has_contact_thickness_m()) spec.contact_thickness_m = message.contact_thickness_m();
  spec.mass_per_area_kg_m2 = message.mass_per_area_kg_m2();
  spec.membrane_youngs_n_m = message.membrane_youngs_n_m();
  if (message.has_membrane_mu_n_m()) spec.membrane_mu_n_m = message.membrane_mu_n_m();
  if (message.has_membrane_lambda_n_m()) spec.membrane_lambda_n_m = message.membrane_lambda_n_m();
  if (message.has_bending_stiffness_nm()) spec.bending_stiffness_nm = message.bending_stiffness_nm();
  if (message.bending_form() == v1::ShellBody::HINGE) spec.bending_form = BendingForm::kHinge;
  spec.flat_rest_angles = message.flat_rest_angles();
  spec.strain_limit = message.strain_limit();
  spec.strain_limit_stiffness_n_m = message.strain_limit_stiffness_n_m();
  spec.fabric = message.fabric();
  for (const v1::ShellKeypoint& point : message.keypoints()) {
    spec.keypoints.push_back(
        {point.name(), {point.vertices().begin(), point.vertices().end()}, {point.weights().begin(), point.weights().end()}});
  }
  for (const v1::ShellOpening& opening : message.openings()) {
    spec.openings.push_back({opening.name(), {opening.vertices().begin(), opening.vertices().end()}});
  }
  for (const v1::VertexPair& pair : message.fold_pairs()) spec.fold_pairs.emplace_back(pair.vertex(), pair.onto());
  return spec;
}

void ShellReadingToProto(const ShellReading& reading, bool float32, v1::ShellReading* out) {
  for (const KeypointReading& keypoint : reading.keypoints) {
    v1::KeypointReading& seen = *out->add_keypoints();
    seen.set_name(keypoint.name);
    Vec3ToProto(keypoint.position, seen.mutable_position_m());
    Vec3ToProto(keypoint.velocity, seen.mutable_velocity_m_s());
  }
  for (const OpeningReading& opening : reading.openings) {
    v1::OpeningReading& seen = *out->add_openings();
    seen.set_name(opening.name);
    seen.set_area_m2(opening.area_m2);
    Vec3ToProto(opening.normal, seen.mutable_normal());
  }
  if (reading.fold_error_m) out->set_fold_error_m(*reading.fold_error_m);
  out->set_rest_area_m2(reading.rest_area_m2);
  out->set_covered_area_m2(reading.coverage.area_m2);
  out->set_mean_layers(reading.coverage.mean_layers);
  out->set_most_layers(reading.coverage.most_layers);
  double largest = 0, smallest = std::numeric_limits<double>::infinity();
  for (const Vec2& s : reading.stretches) largest = std::max(largest, s[0]), smallest = std::min(smallest, s[1]);
  out->set_largest_stretch(largest);
  out->set_smallest_stretch(smallest);
  PairsToProto(reading.stretches, float32, out->mutable_principal_stretches());
  PairsToProto(reading.tensions_n_m, float32, out->mutable_principal_tensions_n_m());
}

}  // namespace eipc
