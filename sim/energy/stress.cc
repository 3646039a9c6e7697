#include "sim/energy/stress.h"

#include <cmath>
#include <limits>
#include <variant>

#include "sim/material/svd.h"

namespace eipc {

double VonMises(const Mat3& stress) {
  const Mat3 deviator = stress - stress.trace() / 3 * Mat3::Identity();
  return std::sqrt(1.5) * deviator.norm();
}

Mat3 CauchyStress(const ElasticBody& body, size_t element, const VecX& q) {
  const Mat3 f = DeformationGradient(body, element, q);
  const double volume_ratio = f.determinant();
  if (!(volume_ratio > 0)) return Mat3::Constant(std::numeric_limits<double>::infinity());
  const Mat3 rotation = PolarRotation(f);
  const Mat3 p = std::visit([&](const auto& material) { return Mat3(material.P(f, rotation)); }, body.material);
  // Symmetric but for rounding: the energies do not depend on rotations.
  const Mat3 stress = p * f.transpose() / volume_ratio;
  return 0.5 * (stress + stress.transpose());
}

std::vector<double> VonMisesStresses(const ElasticBody& body, const VecX& q) {
  std::vector<double> out(body.nodes.size());
  for (size_t e = 0; e < out.size(); ++e) {
    const double value = VonMises(CauchyStress(body, e, q));
    out[e] = std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
  }
  return out;
}

}  // namespace eipc
