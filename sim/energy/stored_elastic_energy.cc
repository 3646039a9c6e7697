#include "sim/energy/condensed.h"
#include "sim/energy/condensed_body.h"
#include "sim/energy/folding.h"
#include "sim/energy/symmetric_law.h"

namespace eipc {

double StoredElasticEnergy(const ElasticBody& body, const VecX& q) {
  if (body.condensed == nullptr) return ElasticityTerm::StoredEnergy(body, q);
  const CondensedStiffness& condensed = *body.condensed;
  const int32_t first = FirstNode(body);
  const size_t n = condensed.vertices(), stride = condensed.stride(), rows = 3 * stride;
  const Vec3 center = CenterOf(q, first, n);
  const Mat6 law = IsotropicStiffness(condensed.bulk_modulus_pa, condensed.shear_modulus_pa);
  double sum = FoldingEnergy(FoldingOf(condensed), body, q);
  for (const CondensedStiffness::Cluster& cluster : condensed.clusters) {
    Mat3 f = Mat3::Zero();
    for (size_t k = 0; k < n; ++k) f += (q.segment<3>(3 * (first + k)) - center) * cluster.gradient[k].transpose();
    const Mat3 back = FrameOf(f).rotation.transpose();
    const auto change = [&](size_t k) -> Vec3 { return back * (q.segment<3>(3 * (first + k)) - center) - condensed.rest[k]; };
    for (size_t l = 0; l < n; ++l) {
      const Vec3 y = change(l);
      Vec3 force = Vec3::Zero();
      for (size_t k = 0; k < n; ++k) {
        const Vec3 other = change(k);
        for (size_t j = 0; j < 3; ++j) {
          const double* column = cluster.stiffness.data() + (j * n + l) * rows + k;
          force[static_cast<int>(j)] += column[0] * other[0] + column[stride] * other[1] + column[2 * stride] * other[2];
        }
      }
      sum += 0.5 * y.dot(force);
    }
    for (size_t part = 0; part < cluster.volume.size(); ++part) {
      const double* const strain = StrainOf(cluster, part);
      Vec6 e = Vec6::Zero();
      for (size_t l = 0; l < n; ++l) {
        const Vec3 y = change(l);
        for (size_t m = 0; m < 6; ++m) {
          for (size_t i = 0; i < 3; ++i) e[static_cast<int>(m)] += strain[m * rows + i * stride + l] * y[static_cast<int>(i)];
        }
      }
      sum += cluster.volume[part] * (DensityOf(body.material, Mat3::Identity() + SymmetricFrom(e)) - 0.5 * e.dot(law * e));
    }
  }
  return sum;
}

}  // namespace eipc
