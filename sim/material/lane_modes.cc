#include "sim/material/lane_modes.h"

#include "sim/material/isotropic_projection.h"

namespace eipc {
namespace {

// Symmetric blocks whose LDL^T factorization has a pivot that is not positive.
LaneMask NotPositiveDefinite(const Vec3s& d, const Vec3s& c) {  // entries 01, 02, 12 are c[2], c[1], c[0]
  const Quad l10 = c[2] / d[0], l20 = c[1] / d[0];
  const Quad d1 = d[1] - l10 * c[2];
  const Quad s21 = c[0] - l20 * c[2];
  const Quad d2 = d[2] - l20 * c[1] - s21 * s21 / d1;
  return ~((d[0] > 0) & (d1 > 0) & (d2 > 0));
}

void ProjectBlock(int lane, LaneModes* modes) {
  Mat3 block;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    block(k, k) = modes->stretch[k][lane];
    block(i, j) = block(j, i) = modes->coupling[k][lane];
  }
  block = ProjectToPsd(block);
  for (int k = 0; k < 3; ++k) {
    modes->stretch[k][lane] = block(k, k);
    modes->coupling[k][lane] = block((k + 1) % 3, (k + 2) % 3);
  }
}

// Of the two modes ij, ji of a pair the Hessian makes [a b; b a].
struct PairEntries {
  Vec3s a, b;
};

PairEntries EntriesOf(const LaneModes& modes) {
  PairEntries out;
  for (int k = 0; k < 3; ++k) {
    out.a[k] = 0.5 * (modes.flip[k] + modes.twist[k]);
    out.b[k] = 0.5 * (modes.flip[k] - modes.twist[k]);
  }
  return out;
}

// B_a^T H B_b in the frame u; ra and rb are gradients in the frame v.
Mat3s InFrame(const LaneModes& modes, const PairEntries& pair, const Vec3s& ra, const Vec3s& rb) {
  Mat3s product;  // product[j][i] = ra[i] rb[j]
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) product[j][i] = ra[i] * rb[j];
  }
  Mat3s m;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    m[k][k] = modes.stretch[k] * product[k][k] + pair.a[j] * product[i][i] + pair.a[i] * product[j][j];
    m[j][i] = modes.coupling[k] * product[j][i] + pair.b[k] * product[i][j];
    m[i][j] = modes.coupling[k] * product[i][j] + pair.b[k] * product[j][i];
  }
  return m;
}

}  // namespace

LaneDeformation LaneDeformation::Of(const Mat3s& f) {
  LaneDeformation out;
  out.f = f;
  out.cofactor = Cofactor(f);
  out.det = Dot(f[0], out.cofactor[0]);
  const Quad d0 = Dot(f[0], f[0]) - 1, d1 = Dot(f[1], f[1]) - 1, d2 = Dot(f[2], f[2]) - 1;
  const Quad e0 = Dot(f[1], f[2]), e1 = Dot(f[2], f[0]), e2 = Dot(f[0], f[1]);
  const Quad off2 = e0 * e0 + e1 * e1 + e2 * e2;
  out.trace = d0 + d1 + d2;
  out.second = d0 * d1 + d1 * d2 + d2 * d0 - off2;
  const Quad size2 = d0 * d0 + d1 * d1 + d2 * d2 + 2 * off2;
  const Quad strain_det = d0 * (d1 * d2 - e0 * e0) - e2 * (e2 * d2 - e0 * e1) + e1 * (e2 * e0 - d1 * e1);
  // Near a rotation, as StrainInvariants::Of explains.
  const LaneMask near_rotation = (out.det > 0) & (size2 < 0.25);
  const Quad higher = out.second + strain_det, inverse = 1 / (out.det + 1);
  const Quad volume = (out.trace + higher) * inverse;
  out.volume = near_rotation ? volume : out.det - 1;
  out.trace_minus_volume = near_rotation ? (out.trace * volume - 2 * higher) * inverse : out.trace - 2 * out.volume;
  return out;
}

LaneModes ModesFromInvariants(const Vec3s& sigma, const LaneDerivatives& f) {
  const Vec3s cofactor = {sigma[1] * sigma[2], sigma[2] * sigma[0], sigma[0] * sigma[1]};
  const Vec3s square = {sigma[0] * sigma[0], sigma[1] * sigma[1], sigma[2] * sigma[2]};
  const Quad twice_d1 = 2 * f.d1, twice_d2 = 2 * f.d2;
  LaneModes out;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const Quad both = f.dj * sigma[k] + twice_d2 * cofactor[k];
    const Quad same = twice_d1 + twice_d2 * square[k];
    out.stretch[k] = twice_d1 + twice_d2 * (square[i] + square[j]) + 4 * f.d11 * square[k] + f.djj * (cofactor[k] * cofactor[k]);
    out.coupling[k] = 4 * f.d11 * cofactor[k] + f.djj * (cofactor[i] * cofactor[j]) + both + twice_d2 * cofactor[k];
    out.twist[k] = same + both;
    out.flip[k] = same - both;
  }
  return out;
}

void Project(LaneModes* modes) {
  for (int k = 0; k < 3; ++k) {
    modes->twist[k] = modes->twist[k] < 0 ? Quad{} : modes->twist[k];
    modes->flip[k] = modes->flip[k] < 0 ? Quad{} : modes->flip[k];
  }
  const LaneMask indefinite = NotPositiveDefinite(modes->stretch, modes->coupling);
  if (!Any(indefinite)) return;
  for (int lane = 0; lane < 4; ++lane) {
    if (indefinite[lane]) ProjectBlock(lane, modes);
  }
}

Mat3s Apply(const LaneModes& modes, const Mat3s& u, const Mat3s& v, const Mat3s& dF) {
  const PairEntries pair = EntriesOf(modes);
  const Mat3s d = Times(TransposeTimes(u, dF), v);
  Mat3s out;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k][k] = modes.stretch[k] * d[k][k] + modes.coupling[j] * d[i][i] + modes.coupling[i] * d[j][j];
    out[j][i] = pair.a[k] * d[j][i] + pair.b[k] * d[i][j];
    out[i][j] = pair.a[k] * d[i][j] + pair.b[k] * d[j][i];
  }
  return Times(Times(u, out), Transposed(v));
}

void AddPullBack(const LaneModes& modes, const Mat3s& u, const Mat3s& v, const Mat3s& gradient, const Quad& volume,
                 std::array<Mat3s, 6>* blocks) {
  const PairEntries pair = EntriesOf(modes);
  const Mat3s r = TransposeTimes(v, gradient), u_transposed = Transposed(u);
  int k = 0;
  for (int a = 0; a < 3; ++a) {
    const Vec3s ra = {volume * r[a][0], volume * r[a][1], volume * r[a][2]};
    for (int b = 0; b <= a; ++b, ++k) {
      const Mat3s block = Times(u, Times(InFrame(modes, pair, ra, r[b]), u_transposed));
      for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) (*blocks)[k][j][i] += block[j][i];
      }
    }
  }
}

}  // namespace eipc
