#include "client/cpp/touch.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/cpp/types.h"

namespace eipc::client {
namespace {

Vector3 Over(const Vector3& v, double divisor) {
  if (!(divisor > 0)) return {0, 0, 0};
  return {v[0] / divisor, v[1] / divisor, v[2] / divisor};
}

Vector3 Row(const Vectors& vectors, size_t row) {
  const auto v = vectors[row];
  return {v[0], v[1], v[2]};
}

double Length(const Vector3& v) { return std::hypot(v[0], v[1], v[2]); }

}  // namespace

Vector3 ContactTractions::ForceN(size_t row) const {
  const auto normal = normal_force_n[row], friction = friction_force_n[row];
  return {normal[0] + friction[0], normal[1] + friction[1], normal[2] + friction[2]};
}

Vector3 ContactTractions::Normal(size_t row) const {
  const Vector3 force = Row(normal_force_n, row);
  return Over(force, Length(force));
}

double ContactTractions::PressurePa(size_t row) const {
  return area_m2[row] > 0 ? Length(Row(normal_force_n, row)) / area_m2[row] : 0;
}

Vector3 ContactTractions::FrictionTractionPa(size_t row) const { return Over(Row(friction_force_n, row), area_m2[row]); }

Vector3 ContactTractions::TractionPa(size_t row) const { return Over(ForceN(row), area_m2[row]); }

Vector3 ContactTractions::TotalForceN() const {
  Vector3 sum = {0, 0, 0};
  for (size_t row = 0; row < vertices.size(); ++row) {
    const Vector3 force = ForceN(row);
    for (int i = 0; i < 3; ++i) sum[i] += force[i];
  }
  return sum;
}

absl::StatusOr<std::vector<double>> ContactTractions::OnSurface(std::span<const double> values, size_t surface_vertices) const {
  if (values.size() != vertices.size()) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", vertices.size(), " rows, but ", values.size(), " values"));
  }
  // Increasing: the last one is the largest.
  if (!vertices.empty() && static_cast<size_t>(vertices.back()) >= surface_vertices) {
    return absl::InvalidArgumentError(absl::StrCat("a contact acts on vertex ", vertices.back(), " of ", surface_vertices));
  }
  std::vector<double> on_surface(surface_vertices, 0.0);
  for (size_t row = 0; row < vertices.size(); ++row) on_surface[vertices[row]] = values[row];
  return on_surface;
}

PairSlip PairSlip::Reversed() const {
  PairSlip out = *this;
  std::swap(out.body, out.other);
  for (double& component : out.velocity_m_s) component = -component;
  if (out.since_contact) {
    for (double& component : out.since_contact->displacement_m) component = -component;
  }
  return out;
}

absl::Status PeakStress::Add(const Observation& observation) {
  bool any = false;
  for (const BodyState& body : observation.bodies) {
    if (body.von_mises_pa.empty()) continue;
    any = true;
    const auto peak = peaks_.find(body.name);
    if (peak != peaks_.end() && peak->second.size() != body.von_mises_pa.size()) {
      return absl::InvalidArgumentError(absl::StrCat("body \"", body.name, "\" has ", body.von_mises_pa.size(),
                                                     " elements, but had ", peak->second.size(), " before"));
    }
  }
  if (!any) return absl::InvalidArgumentError("the observation has no stresses: ask for them with Observe::stresses");
  for (const BodyState& body : observation.bodies) {
    if (body.von_mises_pa.empty()) continue;
    std::vector<double>& peak = peaks_[body.name];
    peak.resize(body.von_mises_pa.size(), 0.0);
    for (size_t t = 0; t < peak.size(); ++t) peak[t] = std::max(peak[t], body.von_mises_pa[t]);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<bool>> PeakStress::Damaged(const std::string& body, double limit_pa) const {
  const auto peak = peaks_.find(body);
  if (peak == peaks_.end()) return absl::NotFoundError(absl::StrCat("no stresses of a body \"", body, "\" were added"));
  std::vector<bool> damaged;
  for (const double stress : peak->second) damaged.push_back(stress > limit_pa);
  return damaged;
}

}  // namespace eipc::client
