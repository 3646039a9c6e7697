#include "sim/contact/barrier_stencil.h"

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "sim/base/eigen_copies.h"
#include "sim/contact/barrier_function.h"

namespace eipc {
namespace {

// Coordinates of the span {n, t1, t2} (x) o1, n (x) o2, n (x) o3 in which grad d and hess d live (distance.h).
struct Span {
  int size = 0;                                  // 3 + k
  Eigen::Matrix<double, 12, 5> basis;            // orthonormal columns
  double w_norm = 0;                             // |w|; grad d = w_norm * basis column 0
  Eigen::Matrix<double, 5, 5> distance_hessian;  // of d, in the basis
};

// From the second side to the first. Where they touch, or are too near for the square of their distance, some normal: the pair must
// not be without a force.
Vec3 GapDirection(const ContactStencil& stencil, const StencilPositions& x) {
  if (stencil.distance > 0) return stencil.closest.e / stencil.distance;
  const bool edges = stencil.kind == ContactKind::kEdgeEdge;
  const Vec3 e = edges ? x.x[1] - x.x[0] : x.x[2] - x.x[1], f = edges ? x.x[3] - x.x[2] : x.x[3] - x.x[1];
  const Vec3 normal = e.stableNormalized().cross(f.stableNormalized());
  const Vec3 n = stencil.closest.e.isZero(0) ? normal : stencil.closest.e;
  if (n.stableNorm() > 0) return n.stableNormalized();
  return e.isZero(0) ? Vec3(Vec3::UnitZ()) : Vec3(e.stableNormalized().unitOrthogonal());
}

// The Hessian of d: ww^T (x) (I - nn^T) / d - U A^{-1} U^T.
Span MakeSpan(const ContactStencil& stencil, const StencilPositions& x) {
  const ClosestPoints& c = stencil.closest;
  const double d = std::max(stencil.distance, kSmallestGap * stencil.dhat);
  const Vec3 n = GapDirection(stencil, x);
  const Vec3 t1 = n.unitOrthogonal();
  const Vec3 t2 = n.cross(t1);
  Eigen::Matrix<double, 4, 3> o = Eigen::Matrix<double, 4, 3>::Zero();
  const Eigen::Map<const Eigen::Vector4d> w(c.w.data());
  Span s;
  s.size = 3 + c.free_count;
  s.w_norm = w.norm();
  o.col(0) = w / s.w_norm;
  Eigen::Matrix<double, 5, 2> u = Eigen::Matrix<double, 5, 2>::Zero();
  Eigen::Matrix<double, 3, 2> ek = Eigen::Matrix<double, 3, 2>::Zero();
  for (int k = 0; k < c.free_count; ++k) {
    const Eigen::Map<const Eigen::Vector4d> dw(c.dw[k].data());
    Eigen::Vector4d rest = dw;
    for (int j = 0; j <= k; ++j) rest -= o.col(j).dot(rest) * o.col(j);
    for (int j = 0; j <= k; ++j) rest -= o.col(j).dot(rest) * o.col(j);
    o.col(1 + k) = rest.normalized();
    for (int i = 0; i < 4; ++i) ek.col(k) += dw[i] * x.x[i];
    u(0, k) = o.col(0).dot(dw);
    u(1, k) = s.w_norm / d * ek.col(k).dot(t1);
    u(2, k) = s.w_norm / d * ek.col(k).dot(t2);
    for (int j = 0; j <= k; ++j) u(3 + j, k) = o.col(1 + j).dot(dw);
  }
  for (int i = 0; i < 4; ++i) {
    s.basis.block<3, 1>(3 * i, 0) = o(i, 0) * n;
    s.basis.block<3, 1>(3 * i, 1) = o(i, 0) * t1;
    s.basis.block<3, 1>(3 * i, 2) = o(i, 0) * t2;
    s.basis.block<3, 1>(3 * i, 3) = o(i, 1) * n;
    s.basis.block<3, 1>(3 * i, 4) = o(i, 2) * n;
  }
  s.distance_hessian.setZero();
  s.distance_hessian(1, 1) = s.distance_hessian(2, 2) = s.w_norm * s.w_norm / d;
  if (c.free_count == 1) {
    s.distance_hessian -= u.col(0) * (d / ek.col(0).squaredNorm()) * u.col(0).transpose();
  } else if (c.free_count == 2) {
    const Eigen::Matrix2d a = ek.transpose() * ek / d;
    s.distance_hessian -= u * a.inverse() * u.transpose();
  }
  return s;
}

// Mollifier m(c) = c/eps (2 - c/eps) below eps, with derivatives by c and of c by the edge vectors.
struct Mollifier {
  bool active = false;
  double m = 1, dm = 0, ddm = 0;
  Vec12 gradient = Vec12::Zero();  // of c
  Vec3 u, v;
};

Mollifier MakeMollifier(const ContactStencil& stencil, const StencilPositions& x) {
  Mollifier out;
  if (stencil.mollifier2 <= 0) return out;
  out.u = x.x[1] - x.x[0];
  out.v = x.x[3] - x.x[2];
  const double c = out.u.cross(out.v).squaredNorm();
  if (c >= stencil.mollifier2) return out;
  out.active = true;
  const double r = c / stencil.mollifier2;
  out.m = r * (2 - r);
  out.dm = (2 - 2 * r) / stencil.mollifier2;
  out.ddm = -2 / (stencil.mollifier2 * stencil.mollifier2);
  const double uu = out.u.squaredNorm(), uv = out.u.dot(out.v), vv = out.v.squaredNorm();
  const Vec3 cu = 2 * (vv * out.u - uv * out.v), cv = 2 * (uu * out.v - uv * out.u);
  out.gradient << -cu, cu, -cv, cv;
  return out;
}

// Hessian of c = |u|^2 |v|^2 - (u.v)^2 by the four vertices.
Mat12 CrossNormHessian(const Vec3& u, const Vec3& v) {
  const Mat3 huu = 2 * (v.squaredNorm() * Mat3::Identity() - v * v.transpose());
  const Mat3 hvv = 2 * (u.squaredNorm() * Mat3::Identity() - u * u.transpose());
  const Mat3 huv = 2 * (2 * u * v.transpose() - v * u.transpose() - u.dot(v) * Mat3::Identity());
  Mat12 h;
  const double sign[4] = {-1, 1, -1, 1};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      Mat3 block;
      if (i < 2) {
        block = j < 2 ? huu : huv;
      } else {
        block = j < 2 ? Mat3(huv.transpose()) : hvv;
      }
      h.block<3, 3>(3 * i, 3 * j) = sign[i] * sign[j] * block;
    }
  }
  return h;
}

Vec12 DistanceGradient(const ContactStencil& stencil, const StencilPositions& x) {
  const Vec3 n = GapDirection(stencil, x);
  Vec12 g;
  for (int i = 0; i < 4; ++i) g.segment<3>(3 * i) = stencil.closest.w[i] * n;
  return g;
}

Eigen::Matrix<double, 5, 5> SpanHessian(const ContactStencil& stencil, const Span& span) {
  Eigen::Matrix<double, 5, 5> h = BarrierFirst(stencil.gap(), stencil.dhat) * span.distance_hessian;
  h(0, 0) += BarrierSecond(stencil.gap(), stencil.dhat) * span.w_norm * span.w_norm;
  return h;
}

// One direction in which the closest points slide along with the tangent t while the weights turn by g (barrier_stencil.h).
struct Slide {
  Vec3 t;
  Eigen::Vector4d g;
};

// Rotates two slides into each other until their g are orthogonal: one Jacobi rotation of the 2x2 matrix of products.
void Decouple(Slide* a, Slide* b) {
  const double aa = a->g.squaredNorm(), bb = b->g.squaredNorm(), ab = a->g.dot(b->g);
  if (std::abs(ab) <= 1e-15 * std::sqrt(aa * bb)) return;
  const double theta = (bb - aa) / (2 * ab);
  const double tangent = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(tangent * tangent + 1), s = c * tangent;
  const Slide old = *a;
  a->t = c * old.t - s * b->t;
  a->g = c * old.g - s * b->g;
  b->t = s * old.t + c * b->t;
  b->g = s * old.g + c * b->g;
}

int MakeSlides(const ContactStencil& stencil, const StencilPositions& x, std::array<Slide, 2>* slides) {
  const ClosestPoints& c = stencil.closest;
  // Gram-Schmidt of e_k, carried along to dw_k.
  int count = 0;
  for (int k = 0; k < c.free_count; ++k) {
    Slide s{Vec3::Zero(), Eigen::Map<const Eigen::Vector4d>(c.dw[k].data())};
    for (int i = 0; i < 4; ++i) s.t += c.dw[k][i] * x.x[i];
    if (count == 1) {
      const double along = (*slides)[0].t.dot(s.t);
      s.t -= along * (*slides)[0].t;
      s.g -= along * (*slides)[0].g;
    }
    const double length = s.t.norm();
    if (!(length > 0)) continue;
    s.t /= length;
    s.g /= length;
    (*slides)[count++] = s;
  }
  if (count == 2) Decouple(&(*slides)[0], &(*slides)[1]);
  return count;
}

Vec12 Column(double tangent_part, const Vec3& t, const Eigen::Vector4d& w, double normal_part, const Vec3& n,
             const Eigen::Vector4d& g) {
  Vec12 out;
  for (int i = 0; i < 4; ++i) out.segment<3>(3 * i) = (tangent_part * w[i]) * t + (normal_part * g[i]) * n;
  return out;
}

// Columns of a factor, those to be subtracted kept apart until all are known.
class FactorColumns {
 public:
  explicit FactorColumns(HessianKind kind) : exact_(kind == HessianKind::kExact) {}

  bool exact() const { return exact_; }
  void Add(const Vec12& column) { factor_.columns.col(factor_.rank++) = column; }
  void Subtract(const Vec12& column) {
    if (exact_) subtracted_.col(factor_.negative++) = column;
  }
  // value e e^T, e of unit length.
  void AddEigenvector(double value, const Vec12& e) {
    if (value > 0) Add(std::sqrt(value) * e);
    if (value < 0) Subtract(std::sqrt(-value) * e);
  }
  const StencilFactor& Factor() {
    factor_.columns.middleCols(factor_.rank, factor_.negative) = subtracted_.leftCols(factor_.negative);
    return factor_;
  }

 private:
  const bool exact_;
  StencilFactor factor_;
  Mat12 subtracted_;
};

// The barrier's Hessian by the distance: b'' (n (x) w)(n (x) w)^T and what is left of it, b' hess d.
class DistanceParts {
 public:
  DistanceParts(const ContactStencil& stencil, const StencilPositions& x)
      : distance_(std::max(stencil.distance, kSmallestGap * stencil.dhat)),
        gap_(stencil.gap()),
        first_(BarrierFirst(gap_, stencil.dhat)),
        second_(BarrierSecond(gap_, stencil.dhat)),
        w_(stencil.closest.w.data()),
        n_(GapDirection(stencil, x)),
        normal_(Column(0, n_, w_, 1, n_, w_)),
        count_(MakeSlides(stencil, x, &slides_)) {}

  double gap() const { return gap_; }
  double first() const { return first_; }    // b'
  double second() const { return second_; }  // b''
  const Vec12& normal() const { return normal_; }
  // `share` times b' hess d.
  void AddSliding(double share, FactorColumns* out) const;

 private:
  const double distance_, gap_, first_, second_;
  const Eigen::Vector4d w_;
  const Vec3 n_;
  const Vec12 normal_;
  std::array<Slide, 2> slides_;
  const int count_;
};

void DistanceParts::AddSliding(double share, FactorColumns* out) const {
  const double beta = -share * first_, alpha = w_.norm();
  if (!(beta > 0)) return;
  for (int k = 0; k < count_; ++k) {
    const double gamma = slides_[k].g.norm();
    if (!(gamma > 0)) continue;
    // beta gamma [[0, alpha], [alpha, d gamma]] in the unit vectors of t (x) w and n (x) g: eigenvalues beta gamma times lambda and
    // -alpha^2 / lambda.
    const double stretch = distance_ * gamma;
    const double lambda = 0.5 * (stretch + std::sqrt(stretch * stretch + 4 * alpha * alpha));
    const auto column = [&](double value) {
      const double scale = std::sqrt(beta * gamma) * std::sqrt(std::abs(value) / (alpha * alpha + value * value));
      return Column(scale, slides_[k].t, w_, scale * value / gamma, n_, slides_[k].g);
    };
    out->Add(column(lambda));
    if (out->exact()) out->Subtract(column(-alpha * alpha / lambda));
  }
  if (!out->exact() || count_ == 2) return;
  const Vec3 across = count_ == 1 ? Vec3(n_.cross(slides_[0].t)) : n_.unitOrthogonal();
  const double bend = std::sqrt(beta / distance_);
  out->Subtract(Column(bend, across, w_, 0, n_, w_));
  if (count_ == 0) out->Subtract(Column(bend, n_.cross(across), w_, 0, n_, w_));
}

// The gradient by the four vertices of what has these by the edges u and v.
Vec12 ByVertices(const Vec3& by_u, const Vec3& by_v) {
  Vec12 out;
  out << -by_u, by_u, -by_v, by_v;
  return out;
}

// kappa j j^T + sigma (j p^T + p j^T) + tau p p^T, by its two eigenvectors in the plane of j and p.
void AddInPlane(const Vec12& j, const Vec12& p, double kappa, double sigma, double tau, FactorColumns* out) {
  // j = J e1, p = a e1 + q e2.
  const double length = j.norm();
  const Vec12 e1 = length > 0 ? Vec12(j / length) : Vec12(Vec12::Zero());
  const double a = e1.dot(p);
  Vec12 e2 = p - a * e1;
  const double q = e2.norm();
  if (q > 0) e2 /= q;
  const double x = kappa * length * length + 2 * sigma * length * a + tau * a * a, y = q * (sigma * length + tau * a),
               z = tau * q * q;
  const double mean = 0.5 * (x + z), half = 0.5 * (x - z), root = std::sqrt(half * half + y * y);
  // The eigenvector of mean + root, from the larger of its two forms.
  double c = half >= 0 ? half + root : y, s = half >= 0 ? y : root - half;
  const double size = std::sqrt(c * c + s * s);
  if (size > 0) {
    c /= size, s /= size;
  } else {
    c = 1, s = 0;
  }
  out->AddEigenvector(mean + root, c * e1 + s * e2);
  out->AddEigenvector(mean - root, c * e2 - s * e1);
}

// What the mollifier makes of it beside m b' hess d (barrier_stencil.h).
void AddMollified(const DistanceParts& distance, const Mollifier& m, double b, FactorColumns* out) {
  const Vec3 s = m.u.cross(m.v);
  const double length = s.norm(), scale = b * m.dm;
  Vec3 along = s / length;
  if (!(length > 0)) along = m.u.isZero(0) ? Vec3(Vec3::UnitZ()) : Vec3(m.u.stableNormalized().unitOrthogonal());
  const Vec3 p1 = along.unitOrthogonal(), p2 = along.cross(p1);
  const auto gradient_of = [&](const Vec3& a) { return ByVertices(m.v.cross(a), a.cross(m.u)); };  // of a . s
  for (const Vec3& p : {p1, p2}) out->Add(std::sqrt(2 * scale) * gradient_of(p));
  AddInPlane(gradient_of(along), distance.normal(), 2 * scale + 4 * b * m.ddm * length * length,
             2 * length * m.dm * distance.first(), m.m * distance.second(), out);
  const double turn = std::sqrt(scale * length);
  out->Add(turn * ByVertices(p1, p2));
  out->Add(turn * ByVertices(p2, -p1));
  out->Subtract(turn * ByVertices(p1, -p2));
  out->Subtract(turn * ByVertices(p2, p1));
}

StencilFactor FactorByEigenvectors(const Mat12& hessian, HessianKind kind) {
  StencilFactor out;
  const Eigen::SelfAdjointEigenSolver<Mat12> eigen(hessian);
  const auto add = [&](int i) {
    out.columns.col(out.rank + out.negative) = std::sqrt(std::abs(eigen.eigenvalues()[i])) * eigen.eigenvectors().col(i);
  };
  for (int i = 0; i < 12; ++i) {
    if (eigen.eigenvalues()[i] > 0) add(i), ++out.rank;
  }
  for (int i = 0; i < 12 && kind == HessianKind::kExact; ++i) {
    if (eigen.eigenvalues()[i] < 0) add(i), ++out.negative;
  }
  return out;
}

}  // namespace

double MollifierValue(const ContactStencil& stencil, const StencilPositions& x) { return MakeMollifier(stencil, x).m; }

Vec12 MollifierGradient(const ContactStencil& stencil, const StencilPositions& x) {
  const Mollifier m = MakeMollifier(stencil, x);
  return m.dm * m.gradient;
}

double BarrierStencilValue(const ContactStencil& stencil, const StencilPositions& x) {
  return MollifierValue(stencil, x) * Barrier(stencil.gap(), stencil.dhat);
}

Vec12 BarrierStencilGradient(const ContactStencil& stencil, const StencilPositions& x) {
  const Mollifier m = MakeMollifier(stencil, x);
  Vec12 g = m.m * BarrierFirst(stencil.gap(), stencil.dhat) * DistanceGradient(stencil, x);
  if (m.active) g += m.dm * Barrier(stencil.gap(), stencil.dhat) * m.gradient;
  return g;
}

Mat12 BarrierStencilHessian(const ContactStencil& stencil, const StencilPositions& x) {
  const Span span = MakeSpan(stencil, x);
  const Mollifier m = MakeMollifier(stencil, x);
  const Eigen::Matrix<double, 5, 5> in_span = SpanHessian(stencil, span);
  Mat12 h = m.m * (span.basis.leftCols(span.size) * in_span.topLeftCorner(span.size, span.size) *
                   span.basis.leftCols(span.size).transpose());
  if (m.active) {
    const double b = Barrier(stencil.gap(), stencil.dhat);
    const Vec12 gb = BarrierFirst(stencil.gap(), stencil.dhat) * DistanceGradient(stencil, x);
    h += m.dm * (m.gradient * gb.transpose() + gb * m.gradient.transpose());
    h += b * (m.ddm * m.gradient * m.gradient.transpose() + m.dm * CrossNormHessian(m.u, m.v));
  }
  return h;
}

StencilFactor BarrierStencilFactor(const ContactStencil& stencil, const StencilPositions& x, HessianKind kind) {
  if (stencil.weight < 0) return FactorByEigenvectors(-BarrierStencilHessian(stencil, x), kind);
  FactorColumns columns(kind);
  const DistanceParts distance(stencil, x);
  const Mollifier mollifier = MakeMollifier(stencil, x);
  if (mollifier.active) {
    distance.AddSliding(mollifier.m, &columns);
    AddMollified(distance, mollifier, Barrier(distance.gap(), stencil.dhat), &columns);
  } else {
    columns.Add(std::sqrt(distance.second()) * distance.normal());
    distance.AddSliding(1, &columns);
  }
  return columns.Factor();
}

}  // namespace eipc
