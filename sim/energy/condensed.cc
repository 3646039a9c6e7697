#include "sim/energy/condensed.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "sim/base/quad.h"
#include "sim/energy/folding.h"
#include "sim/energy/symmetric_law.h"
#include "sim/material/polar.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 1;
constexpr int64_t kColumnGrain = 8;
// (tr S I - S) counts as at least this in every direction: two stretches of a cluster whose sum is smaller leave its rotation
// without a meaning.
constexpr double kLeastTurningStretch = 1e-3;

Mat3 CrossMatrix(const Vec3& w) {
  Mat3 m;
  m << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
  return m;
}

struct Polar {
  Mat3 rotation, stretch, torque_inverse;
};

Polar PolarOf(const Mat3& f) {
  if (const std::optional<Mat3> rotation = PolarRotationByNewton(f)) {
    const Mat3 product = rotation->transpose() * f, stretch = 0.5 * (product + product.transpose());
    const Mat3 others = stretch.trace() * Mat3::Identity() - stretch;
    // The least eigenvalue of a positive matrix is at least its determinant over the square of its norm.
    if (others.determinant() > kLeastTurningStretch * others.squaredNorm()) return {*rotation, stretch, others.inverse()};
  }
  const SignedSvd svd = ComputeSignedSvd(f);
  const Vec3 others = Vec3::Constant(svd.sigma.sum()) - svd.sigma;
  const Vec3 inverse = others.cwiseMax(kLeastTurningStretch).cwiseInverse();
  return {svd.Rotation(), svd.v * svd.sigma.asDiagonal() * svd.v.transpose(), svd.v * inverse.asDiagonal() * svd.v.transpose()};
}

int32_t FirstNode(const ElasticBody& body) {
  int32_t first = body.nodes[0][0];
  for (const Tet& t : body.nodes) first = std::min(first, *std::min_element(t.begin(), t.end()));
  return first;
}

Vec3 CenterOf(const VecX& q, int32_t first, size_t n) {
  Vec3 sum = Vec3::Zero();
  for (size_t k = 0; k < n; ++k) sum += q.segment<3>(3 * (first + k));
  return sum / static_cast<double>(n);
}

Rows RowsOf(const std::vector<Vec3>& vectors, size_t stride) {
  Rows rows(3 * stride, 0);
  for (size_t k = 0; k < vectors.size(); ++k) {
    for (size_t i = 0; i < 3; ++i) rows[i * stride + k] = vectors[k][static_cast<int>(i)];
  }
  return rows;
}

// scale * C E, E and the result six rows.
void MultiplySix(const Mat6& c, double scale, const Rows& e, size_t rows, Rows* out) {
  std::fill(out->begin(), out->end(), 0.0);
  for (size_t m = 0; m < 6; ++m) {
    for (size_t q = 0; q < 6; ++q) {
      AddScaled(scale * c(static_cast<int>(m), static_cast<int>(q)), e.data() + q * rows, rows, out->data() + m * rows);
    }
  }
}

FoldingLaw FoldingOf(const CondensedStiffness& condensed) { return {condensed.bulk_modulus_pa, CondensedTerm::kFoldingStart}; }

bool SameBits(const VecX& a, const VecX& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

CondensedTerm::CondensedTerm(const ElasticBody* body, ThreadPool* pool)
    : body_(body), condensed_(body->condensed.get()), pool_(pool), first_node_(FirstNode(*body)) {
  const size_t rows = 3 * stride();
  rest_ = RowsOf(condensed_->rest, stride());
  position_.assign(rows, 0);
  const Mat6 law = IsotropicStiffness(condensed_->bulk_modulus_pa, condensed_->shear_modulus_pa);
  for (const CondensedStiffness::Cluster& cluster : condensed_->clusters) {
    ClusterRest rest = {RowsOf(cluster.gradient, stride()), {}};
    if (damped()) {
      rest.linear.assign(6 * rows, 0);
      MultiplySix(law, cluster.volume, cluster.strain, rows, &rest.linear);
    }
    clusters_.push_back(std::move(rest));
    ClusterState& s = states_.emplace_back();
    for (Rows* vector : {&s.p, &s.y, &s.f, &s.h}) vector->assign(rows, 0);
    for (int m = 0; m < 3; ++m) {
      for (Rows* vector : {&s.u[m], &s.v[m], &s.turned[m]}) vector->assign(rows, 0);
    }
    s.tangent.assign(6 * rows, 0);
  }
  dense_.assign(9 * stride() * n(), 0);
  if (damped()) start_ = dense_;
}

void CondensedTerm::BeginStage(const StageContext& stage) {
  damping_ = body_->rayleigh_beta_s / stage.gamma_h;
  projected_ = false;
  is_evaluated_ = false;
  if (!damped()) return;
  q_tilde_ = stage.q_tilde;
  Evaluate(stage.q_start);
  std::fill(start_.begin(), start_.end(), 0.0);
  AddRotated(Stiffness::kLinear, &start_);
}

void CondensedTerm::EvaluateCluster(size_t c) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  const Rows& gradient = clusters_[c].gradient;
  ClusterState& s = states_[c];
  const size_t st = stride();
  const Polar polar = PolarOf(OuterSum(position_, gradient, st));
  s.rotation = polar.rotation;
  s.stretch = polar.stretch;
  s.torque_inverse = polar.torque_inverse;
  TurnRows(s.rotation.transpose(), position_, st, &s.p);
  s.y = s.p;
  AddScaled(-1, rest_.data(), 3 * st, s.y.data());
  MultiplyRows<1>(cluster.remainder.data(), n(), st, {s.y.data()}, {s.f.data()});
  s.value = 0.5 * DotRows(s.y, s.f);
  AddMeanStrain(c);
  s.z = s.torque_inverse * CrossSum(OuterSum(s.p, s.f, st));
  s.h = s.f;
  AddCross(-s.z, gradient, st, &s.h);
}

void CondensedTerm::AddMeanStrain(size_t c) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  ClusterState& s = states_[c];
  const size_t rows = 3 * stride();
  Vec6 strain;
  for (size_t m = 0; m < 6; ++m) strain[static_cast<int>(m)] = DotRows(cluster.strain.data() + m * rows, s.y.data(), rows);
  s.deformation = Mat3::Identity() + SymmetricFrom(strain);
  s.value += cluster.volume * DensityOf(body_->material, s.deformation);
  const Vec6 stress = StressOf(body_->material, s.deformation);
  for (size_t m = 0; m < 6; ++m) {
    AddScaled(cluster.volume * stress[static_cast<int>(m)], cluster.strain.data() + m * rows, rows, s.f.data());
  }
}

void CondensedTerm::Evaluate(const VecX& q) {
  if (is_evaluated_ && SameBits(q, evaluated_)) return;
  is_evaluated_ = true;
  evaluated_ = q;
  const Vec3 center = CenterOf(q, first_node_, n());
  for (size_t k = 0; k < n(); ++k) {
    for (size_t i = 0; i < 3; ++i) {
      position_[i * stride() + k] =
          q[3 * (first_node_ + static_cast<Eigen::Index>(k)) + static_cast<int>(i)] - center[static_cast<int>(i)];
    }
  }
  pool_->ParallelFor(static_cast<int64_t>(states_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) EvaluateCluster(c);
  });
}

double CondensedTerm::Value(const Point& point) {
  Evaluate(point.q);
  double sum = 0;
  for (const ClusterState& s : states_) sum += s.value;
  sum += FoldingEnergy(FoldingOf(*condensed_), *body_, point.q);
  if (damped()) sum += 0.5 * damping_ * DampingForce(point.q, nullptr);
  return sum;
}

void CondensedTerm::AddGradient(const Point& point, VecX* gradient) {
  Evaluate(point.q);
  for (const ClusterState& s : states_) {
    for (size_t k = 0; k < n(); ++k) {
      gradient->segment<3>(3 * (first_node_ + k)) += s.rotation * Vec3(s.h[k], s.h[stride() + k], s.h[2 * stride() + k]);
    }
  }
  AddFoldingGradient(FoldingOf(*condensed_), *body_, point.q, gradient);
  if (damped()) DampingForce(point.q, gradient);
}

// Returns d^T K d and adds beta / (gamma h) K d, d = q - q_tilde.
double CondensedTerm::DampingForce(const VecX& q, VecX* gradient) const {
  double power = 0;
  for (size_t l = 0; l < n(); ++l) {
    for (size_t k = l; k < n(); ++k) {
      const Mat3 block = DenseBlock(start_, k, l);
      const auto at = [&](size_t i) { return 3 * (first_node_ + static_cast<Eigen::Index>(i)); };
      const Vec3 dk = q.segment<3>(at(k)) - q_tilde_.segment<3>(at(k)), dl = q.segment<3>(at(l)) - q_tilde_.segment<3>(at(l));
      power += (k == l ? 1 : 2) * dk.dot(block * dl);
      if (gradient == nullptr) continue;
      gradient->segment<3>(at(k)) += damping_ * (block * dl);
      if (k != l) gradient->segment<3>(at(l)) += damping_ * (block.transpose() * dk);
    }
  }
  return power;
}

void CondensedTerm::FindTangent(size_t c) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  ClusterState& s = states_[c];
  MultiplySix(TangentOf(body_->material, s.deformation, !projected_), cluster.volume, cluster.strain, 3 * stride(), &s.tangent);
}

// With K = K' + V E^T C E, u = R^T dq and the turn w = W u of the cluster's frame, W_k = T [g_k]x, T = (tr S I - S)^-1,
// dy = u + L w, L_k = [p_k]x, and
//   d2E = u^T K u + 2 u^T A w + w^T B w,   A = K L - [h]x,   B = L^T K L + sym(sum f p^T) - (sum f . p) I + 1/2 (S [z]x - [z]x S):
// besides K a part of rank six, (A + 1/2 W^T B) W and its transpose.
void CondensedTerm::FindTurning(size_t c) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  const Rows& gradient = clusters_[c].gradient;
  ClusterState& s = states_[c];
  const size_t st = stride(), rows = 3 * st;
  for (int m = 0; m < 3; ++m) {
    std::fill(s.turned[m].begin(), s.turned[m].end(), 0.0);
    AddCross(-Vec3::Unit(m), s.p, st, &s.turned[m]);
  }
  MultiplyRows<3>(cluster.remainder.data(), n(), st, {s.turned[0].data(), s.turned[1].data(), s.turned[2].data()},
                  {s.u[0].data(), s.u[1].data(), s.u[2].data()});
  for (int m = 0; m < 3; ++m) {
    for (size_t q = 0; q < 6; ++q) {
      const double strain = DotRows(cluster.strain.data() + q * rows, s.turned[m].data(), rows);
      AddScaled(strain, s.tangent.data() + q * rows, rows, s.u[m].data());
    }
  }
  Mat3 b;
  for (int i = 0; i < 3; ++i) {
    for (int m = 0; m < 3; ++m) b(i, m) = DotRows(s.turned[i], s.u[m]);
  }
  const Mat3 moment = OuterSum(s.f, s.p, st), z = CrossMatrix(s.z);
  b = (0.5 * (b + b.transpose() + moment + moment.transpose() + s.stretch * z - z * s.stretch) - moment.trace() * Mat3::Identity())
          .eval();
  const Mat3 half = 0.5 * s.torque_inverse * b;
  for (int m = 0; m < 3; ++m) {
    AddCross(Vec3::Unit(m), s.h, st, &s.u[m]);
    AddCross(half.col(m), gradient, st, &s.u[m]);
    std::fill(s.v[m].begin(), s.v[m].end(), 0.0);
    AddCross(s.torque_inverse.col(m), gradient, st, &s.v[m]);
  }
}

namespace {

// block[i][j] += sum over the pairs of rows a[3 * stride] at k, b[3 * stride] at l.
inline void AddProduct(const double* a, const double* b, size_t stride, size_t k, size_t l, Quad block[3][3]) {
  const Quad a0 = LoadQuad(a + k), a1 = LoadQuad(a + stride + k), a2 = LoadQuad(a + 2 * stride + k);
  for (size_t j = 0; j < 3; ++j) {
    const double s = b[j * stride + l];
    block[0][j] += s * a0, block[1][j] += s * a1, block[2][j] += s * a2;
  }
}

}  // namespace

void CondensedTerm::AddColumn(size_t l, Stiffness kind, Rows* dense) const {
  const size_t st = stride(), vertices = n(), rows = 3 * st;
  for (size_t k = l / 4 * 4; k < st; k += 4) {
    Quad sum[3][3] = {};
    for (size_t c = 0; c < states_.size(); ++c) {
      const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
      const ClusterState& s = states_[c];
      Quad block[3][3];
      for (size_t j = 0; j < 3; ++j) {
        const double* column = cluster.remainder.data() + (j * vertices + l) * rows + k;
        for (size_t i = 0; i < 3; ++i) block[i][j] = LoadQuad(column + i * st);
      }
      const Rows& tangent = kind == Stiffness::kLinear ? clusters_[c].linear : s.tangent;
      for (size_t q = 0; q < 6; ++q) AddProduct(tangent.data() + q * rows, cluster.strain.data() + q * rows, st, k, l, block);
      if (kind == Stiffness::kExact) {
        for (int m = 0; m < 3; ++m) {
          AddProduct(s.u[m].data(), s.v[m].data(), st, k, l, block);
          AddProduct(s.v[m].data(), s.u[m].data(), st, k, l, block);
        }
      }
      for (int a = 0; a < 3; ++a) {
        Quad half[3];  // row a of R K
        for (int j = 0; j < 3; ++j) {
          half[j] = s.rotation(a, 0) * block[0][j] + s.rotation(a, 1) * block[1][j] + s.rotation(a, 2) * block[2][j];
        }
        for (int b = 0; b < 3; ++b) {
          sum[a][b] += half[0] * s.rotation(b, 0) + half[1] * s.rotation(b, 1) + half[2] * s.rotation(b, 2);
        }
      }
    }
    for (size_t a = 0; a < 3; ++a) {
      for (size_t b = 0; b < 3; ++b) {
        double* out = dense->data() + ((3 * a + b) * vertices + l) * st + k;
        StoreQuad(LoadQuad(out) + sum[a][b], out);
      }
    }
  }
}

void CondensedTerm::AddRotated(Stiffness kind, Rows* dense) {
  pool_->ParallelFor(static_cast<int64_t>(n()), kColumnGrain, [&](int64_t begin, int64_t end) {
    for (int64_t l = begin; l < end; ++l) AddColumn(l, kind, dense);
  });
}

Mat3 CondensedTerm::DenseBlock(const Rows& dense, size_t k, size_t l) const {
  Mat3 block;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) block(a, b) = dense[((3 * a + b) * n() + l) * stride() + k];
  }
  return block;
}

void CondensedTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  Evaluate(point.q);
  if (damped()) {
    for (size_t i = 0; i < dense_.size(); ++i) dense_[i] = damping_ * start_[i];
  } else {
    std::fill(dense_.begin(), dense_.end(), 0.0);
  }
  pool_->ParallelFor(static_cast<int64_t>(states_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      FindTangent(c);
      if (!projected_) FindTurning(c);
    }
  });
  AddRotated(projected_ ? Stiffness::kProjected : Stiffness::kExact, &dense_);
  size_t slot = 0;
  for (size_t k = 0; k < n(); ++k) {
    for (size_t l = 0; l <= k; ++l) hessian->AddAt(slots_[slot++], DenseBlock(dense_, k, l));
  }
  AddFoldingHessian(FoldingOf(*condensed_), *body_, point.q, !projected_, hessian);
}

bool CondensedTerm::Project() {
  const bool exact = !projected_;
  projected_ = true;
  return exact;
}

void CondensedTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  for (int32_t k = 0; k < static_cast<int32_t>(n()); ++k) {
    for (int32_t l = 0; l < k; ++l) pairs->emplace_back(first_node_ + k, first_node_ + l);
  }
}

void CondensedTerm::BindPattern(const BlockMatrix& hessian) {
  slots_.clear();
  for (int32_t k = 0; k < static_cast<int32_t>(n()); ++k) {
    for (int32_t l = 0; l <= k; ++l) slots_.push_back(hessian.Find(first_node_ + k, first_node_ + l));
  }
}

double StoredElasticEnergy(const ElasticBody& body, const VecX& q) {
  if (body.condensed == nullptr) return ElasticityTerm::StoredEnergy(body, q);
  const CondensedStiffness& condensed = *body.condensed;
  const int32_t first = FirstNode(body);
  const size_t n = condensed.vertices(), stride = condensed.stride(), rows = 3 * stride;
  const Vec3 center = CenterOf(q, first, n);
  double sum = FoldingEnergy(FoldingOf(condensed), body, q);
  for (const CondensedStiffness::Cluster& cluster : condensed.clusters) {
    Mat3 f = Mat3::Zero();
    for (size_t k = 0; k < n; ++k) f += (q.segment<3>(3 * (first + k)) - center) * cluster.gradient[k].transpose();
    const Mat3 back = PolarOf(f).rotation.transpose();
    const auto change = [&](size_t k) -> Vec3 { return back * (q.segment<3>(3 * (first + k)) - center) - condensed.rest[k]; };
    Vec6 strain = Vec6::Zero();
    for (size_t l = 0; l < n; ++l) {
      const Vec3 y = change(l);
      for (size_t m = 0; m < 6; ++m) {
        for (size_t i = 0; i < 3; ++i)
          strain[static_cast<int>(m)] += cluster.strain[m * rows + i * stride + l] * y[static_cast<int>(i)];
      }
      Vec3 force = Vec3::Zero();
      for (size_t k = 0; k < n; ++k) {
        const Vec3 other = change(k);
        for (size_t j = 0; j < 3; ++j) {
          const double* column = cluster.remainder.data() + (j * n + l) * rows + k;
          force[static_cast<int>(j)] += column[0] * other[0] + column[stride] * other[1] + column[2 * stride] * other[2];
        }
      }
      sum += 0.5 * y.dot(force);
    }
    sum += cluster.volume * DensityOf(body.material, Mat3::Identity() + SymmetricFrom(strain));
  }
  return sum;
}

}  // namespace eipc
