#include "sim/energy/folding.h"

#include <array>

namespace eipc {
namespace {

// The determinant of an element's deformation gradient, with what its derivatives are made of.
struct Folding {
  Mat3 f;
  std::array<Vec3, 4> gradient;  // of the shape functions
  double missing = 0;            // of volume: c_0 - det F; nothing is to be done where it is not positive
};

Folding FoldingOf(double start, const ElasticBody& body, size_t e, const VecX& q) {
  Folding out;
  out.f = DeformationGradient(body, e, q);
  out.missing = start - out.f.determinant();
  for (int k = 0; k < 3; ++k) out.gradient[k + 1] = body.inverse_rest[e].row(k);
  out.gradient[0] = -(out.gradient[1] + out.gradient[2] + out.gradient[3]);
  return out;
}

// d det F / d x_a = cof(F) g_a.
std::array<Vec3, 4> VolumeGradient(const Folding& folding) {
  Mat3 cofactor;
  for (int i = 0; i < 3; ++i) cofactor.col(i) = folding.f.col((i + 1) % 3).cross(folding.f.col((i + 2) % 3));
  std::array<Vec3, 4> out;
  for (int a = 0; a < 4; ++a) out[a] = cofactor * folding.gradient[a];
  return out;
}

Mat3 CrossMatrix(const Vec3& w) {
  Mat3 m;
  m << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
  return m;
}

}  // namespace

double FoldingEnergy(const FoldingLaw& law, const ElasticBody& body, const VecX& q) {
  double sum = 0;
  for (size_t e = 0; e < body.nodes.size(); ++e) {
    const double missing = law.start - DeformationGradient(body, e, q).determinant();
    if (missing > 0) sum += 0.5 * law.stiffness_pa * body.volume[e] * missing * missing;
  }
  return sum;
}

void AddFoldingGradient(const FoldingLaw& law, const ElasticBody& body, const VecX& q, VecX* gradient) {
  for (size_t e = 0; e < body.nodes.size(); ++e) {
    const Folding folding = FoldingOf(law.start, body, e, q);
    if (!(folding.missing > 0)) continue;
    const std::array<Vec3, 4> volume = VolumeGradient(folding);
    const double pressure = law.stiffness_pa * body.volume[e] * folding.missing;
    for (int a = 0; a < 4; ++a) gradient->segment<3>(3 * body.nodes[e][a]) -= pressure * volume[a];
  }
}

// With d2 det F [u_a, u_b] = (u_a x u_b) . F (g_a x g_b).
void AddFoldingHessian(const FoldingLaw& law, const ElasticBody& body, const VecX& q, bool exact, BlockMatrix* hessian) {
  for (size_t e = 0; e < body.nodes.size(); ++e) {
    const Folding folding = FoldingOf(law.start, body, e, q);
    if (!(folding.missing > 0)) continue;
    const std::array<Vec3, 4> volume = VolumeGradient(folding);
    const double stiffness = law.stiffness_pa * body.volume[e];
    const Tet& t = body.nodes[e];
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b) {
        Mat3 block = stiffness * volume[a] * volume[b].transpose();
        if (exact) block += stiffness * folding.missing * CrossMatrix(folding.f * folding.gradient[a].cross(folding.gradient[b]));
        hessian->Add(t[a], t[b], block);
      }
    }
  }
}

}  // namespace eipc
