#include "sim/material/lane_svd.h"

#include "sim/material/svd.h"

namespace eipc {
namespace {

// Columns p and q count as orthogonal when |b_p . b_q| <= kOrthogonal |b_p| |b_q|, as in svd.cc.
constexpr double kOrthogonal = 1e-15;
constexpr int kMaxSweeps = 12;
// Of det F over |F|^3 (Frobenius norm). Above it no column of F v is short, and all stretches are positive.
constexpr double kWellConditioned = 1e-4;
// Squares and cubes of what lies between stay clear of overflow and underflow.
constexpr double kSmallestSquare = 1e-40, kLargestSquare = 1e40;

// b = F v with what the rotations of one sweep need: squared lengths of the columns.
struct Columns {
  Mat3s b, v;
  Vec3s square;
};

void Rotate(const Quad& cosine, const Quad& sine, Vec3s* p, Vec3s* q) {
  for (int i = 0; i < 3; ++i) {
    const Quad old = (*p)[i];
    (*p)[i] = cosine * old - sine * (*q)[i];
    (*q)[i] = sine * old + cosine * (*q)[i];
  }
}

// Makes columns p and q orthogonal: tan^2 + 2 zeta tan - 1 = 0 with zeta = (beta - alpha) / (2 gamma), its smaller root written
// without the division by gamma, which may be zero.
void OrthogonalizeColumns(int p, int q, Columns* c) {
  constexpr double kNotZero = 1e-300;
  const Quad gamma = Dot(c->b[p], c->b[q]);
  const Quad difference = c->square[q] - c->square[p];
  const Quad twice = gamma + gamma;
  const Quad root = Sqrt(difference * difference + twice * twice);
  const Quad tangent = (difference < 0 ? -twice : twice) / (Abs(difference) + root + kNotZero);
  const Quad cosine = 1 / Sqrt(1 + tangent * tangent);
  const Quad sine = cosine * tangent;
  Rotate(cosine, sine, &c->b[p], &c->b[q]);
  Rotate(cosine, sine, &c->v[p], &c->v[q]);
  c->square[p] -= tangent * gamma;
  c->square[q] += tangent * gamma;
}

// Whether all columns are orthogonal in all lanes but those of `hard`. Measures the squared lengths.
bool Settled(const LaneMask& hard, Columns* c) {
  constexpr double kTolerance2 = kOrthogonal * kOrthogonal;
  for (int k = 0; k < 3; ++k) c->square[k] = Dot(c->b[k], c->b[k]);
  LaneMask skew = {};
  for (int k = 0; k < 3; ++k) {
    const int p = (k + 1) % 3, q = (k + 2) % 3;
    const Quad gamma = Dot(c->b[p], c->b[q]);
    skew |= gamma * gamma > kTolerance2 * (c->square[p] * c->square[q]);
  }
  return !Any(skew & ~hard);
}

// Lanes that the plain decomposition is for, those with NaNs among them.
LaneMask HardLanes(const Mat3s& F) {
  const Quad size2 = SquaredNorm(F), det = Dot(F[0], Cross(F[1], F[2]));
  const LaneMask good = (size2 > kSmallestSquare) & (size2 < kLargestSquare) & (det > 0) &
                        (det * det > kWellConditioned * kWellConditioned * (size2 * size2 * size2));
  return ~good;
}

// One pass of PolarRotation (svd.cc) without its scaling, which is for what is far from a rotation. Lanes that are not well
// conditioned are noted in `bad`. Returns the squared change.
Quad PolarPass(Mat3s* r, std::array<bool, 4>* bad) {
  constexpr double kInvertible = 1e-3;
  const Mat3s cofactor = Cofactor(*r);
  const Quad det = Dot((*r)[0], cofactor[0]), size2 = SquaredNorm(*r), size6 = size2 * size2 * size2;
  for (int lane = 0; lane < 4; ++lane) {  // det > kInvertible size^3; also when not finite
    if (!(det[lane] > 0 && det[lane] * det[lane] > kInvertible * kInvertible * size6[lane])) (*bad)[lane] = true;
  }
  const Quad half_inverse = 0.5 / det;
  Quad change2 = {};
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      const Quad next = 0.5 * (*r)[j][i] + half_inverse * cofactor[j][i];
      const Quad change = next - (*r)[j][i];
      change2 += change * change;
      (*r)[j][i] = next;
    }
  }
  return change2;
}

}  // namespace

SignedSvds ComputeSignedSvd(const Mat3s& F, const Mat3s& start) {
  const LaneMask hard = HardLanes(F);
  Columns c = {Times(F, start), start, {}};
  for (int sweep = 0; sweep < kMaxSweeps && !Settled(hard, &c); ++sweep) {
    OrthogonalizeColumns(0, 1, &c);
    OrthogonalizeColumns(0, 2, &c);
    OrthogonalizeColumns(1, 2, &c);
  }
  SignedSvds out;
  out.v = c.v;
  for (int k = 0; k < 2; ++k) {
    out.sigma[k] = Sqrt(c.square[k]);
    const Quad inverse = 1 / out.sigma[k];
    for (int i = 0; i < 3; ++i) out.u[k][i] = inverse * c.b[k][i];
  }
  out.u[2] = Cross(out.u[0], out.u[1]);
  out.sigma[2] = Dot(out.u[2], c.b[2]);
  if (!Any(hard)) return out;
  for (int lane = 0; lane < 4; ++lane) {
    if (!hard[lane]) continue;
    const SignedSvd svd = eipc::ComputeSignedSvd(Lane(F, lane));
    SetLane(lane, svd.u, &out.u);
    SetLane(lane, svd.v, &out.v);
    for (int i = 0; i < 3; ++i) out.sigma[i][lane] = svd.sigma[i];
  }
  return out;
}

Mat3s PolarRotation(const Mat3s& F) {
  constexpr int kPasses = 12;
  Mat3s r = F;
  std::array<bool, 4> bad = {};
  bool settled = false;
  for (int pass = 0; pass < kPasses && !settled; ++pass) {
    const Quad change2 = PolarPass(&r, &bad);
    settled = true;  // the next change would be of the order of its square
    for (int lane = 0; lane < 4; ++lane) settled = settled && (bad[lane] || change2[lane] < 1e-18);
  }
  for (int lane = 0; lane < 4; ++lane) {
    if (!settled || bad[lane]) SetLane(lane, PolarRotation(Lane(F, lane)), &r);
  }
  return r;
}

}  // namespace eipc
