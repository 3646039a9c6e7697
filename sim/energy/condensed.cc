#include "sim/energy/condensed.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/base/quad.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 1;
// (tr S I - S) counts as at least this in every direction: two stretches of a cluster whose sum is smaller leave its rotation
// without a meaning.
constexpr double kLeastTurningStretch = 1e-3;

Mat3 CrossMatrix(const Vec3& w) {
  Mat3 m;
  m << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
  return m;
}

Vec3 At(const std::vector<double>& by_coordinate, size_t stride, size_t k) {
  return {by_coordinate[k], by_coordinate[stride + k], by_coordinate[2 * stride + k]};
}

void Set(const Vec3& value, size_t stride, size_t k, std::vector<double>* by_coordinate) {
  for (int i = 0; i < 3; ++i) (*by_coordinate)[i * stride + k] = value[i];
}

struct Polar {
  Mat3 rotation, stretch, torque_inverse;
};

Polar PolarOf(const Mat3& f) {
  const SignedSvd svd = ComputeSignedSvd(f);
  const Vec3 others = Vec3::Constant(svd.sigma.sum()) - svd.sigma;
  const Vec3 inverse = others.cwiseMax(kLeastTurningStretch).cwiseInverse();
  return {svd.Rotation(), svd.v * svd.sigma.asDiagonal() * svd.v.transpose(), svd.v * inverse.asDiagonal() * svd.v.transpose()};
}

// sum_k q_k g_k^T; the g_k sum to zero.
Mat3 MeanGradient(const CondensedStiffness::Cluster& cluster, int32_t first, const VecX& q) {
  Mat3 f = Mat3::Zero();
  for (size_t k = 0; k < cluster.gradient.size(); ++k) f += q.segment<3>(3 * (first + k)) * cluster.gradient[k].transpose();
  return f;
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

// y -> K y.
void Multiply(const CondensedStiffness::Cluster& cluster, size_t n, size_t stride, const std::vector<double>& y,
              std::vector<double>* f) {
  const size_t rows = 3 * stride;
  std::fill(f->begin(), f->end(), 0.0);
  for (size_t j = 0; j < 3; ++j) {
    for (size_t l = 0; l < n; ++l) {
      const double* column = cluster.stiffness.data() + (j * n + l) * rows;
      const Quad scale = Splat(y[j * stride + l]);
      for (size_t r = 0; r < rows; r += 4) StoreQuad(LoadQuad(f->data() + r) + scale * LoadQuad(column + r), f->data() + r);
    }
  }
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  Quad sum = {};
  for (size_t i = 0; i < a.size(); i += 4) sum += LoadQuad(a.data() + i) * LoadQuad(b.data() + i);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The determinant of an element's deformation gradient, with what its derivatives are made of.
struct Folding {
  Mat3 f;
  std::array<Vec3, 4> gradient;  // of the shape functions
  double missing = 0;            // of volume: c_0 - det F; nothing is to be done where it is not positive
};

Folding FoldingOf(const ElasticBody& body, size_t e, const VecX& q) {
  Folding out;
  out.f = DeformationGradient(body, e, q);
  out.missing = CondensedTerm::kFoldingStart - out.f.determinant();
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

double FoldingEnergy(const ElasticBody& body, const VecX& q) {
  double sum = 0;
  for (size_t e = 0; e < body.nodes.size(); ++e) {
    const double missing = FoldingOf(body, e, q).missing;
    if (missing > 0) sum += 0.5 * body.condensed->bulk_modulus_pa * body.volume[e] * missing * missing;
  }
  return sum;
}

bool SameBits(const VecX& a, const VecX& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

CondensedTerm::CondensedTerm(const ElasticBody* body, ThreadPool* pool)
    : body_(body), condensed_(body->condensed.get()), pool_(pool), first_node_(FirstNode(*body)) {
  const size_t size = 3 * stride();
  states_.resize(condensed_->clusters.size());
  for (ClusterState& s : states_) {
    for (std::vector<double>* vector : {&s.p, &s.f, &s.h}) vector->assign(size, 0);
    for (int m = 0; m < 3; ++m) s.u[m].assign(size, 0), s.v[m].assign(size, 0);
    s.scratch.assign(size, 0);
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
  std::fill(start_.begin(), start_.end(), 0.0);
  for (size_t c = 0; c < states_.size(); ++c) {
    AddRotated(c, PolarOf(MeanGradient(condensed_->clusters[c], first_node_, stage.q_start)).rotation, false, &start_);
  }
}

void CondensedTerm::EvaluateCluster(size_t c, const VecX& q) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  ClusterState& s = states_[c];
  const Polar polar = PolarOf(MeanGradient(cluster, first_node_, q));
  s.rotation = polar.rotation;
  s.stretch = polar.stretch;
  s.torque_inverse = polar.torque_inverse;
  for (size_t k = 0; k < n(); ++k) {
    const Vec3 local = s.rotation.transpose() * (q.segment<3>(3 * (first_node_ + k)) - center_);
    Set(local, stride(), k, &s.p);
    Set(local - condensed_->rest[k], stride(), k, &s.scratch);
  }
  Multiply(cluster, n(), stride(), s.scratch, &s.f);
  s.value = 0.5 * Dot(s.scratch, s.f);
  Vec3 torque = Vec3::Zero();
  for (size_t k = 0; k < n(); ++k) torque += At(s.p, stride(), k).cross(At(s.f, stride(), k));
  s.z = s.torque_inverse * torque;
  for (size_t k = 0; k < n(); ++k) Set(At(s.f, stride(), k) - s.z.cross(cluster.gradient[k]), stride(), k, &s.h);
}

void CondensedTerm::Evaluate(const VecX& q) {
  if (is_evaluated_ && SameBits(q, evaluated_)) return;
  is_evaluated_ = true;
  evaluated_ = q;
  center_ = CenterOf(q, first_node_, n());
  pool_->ParallelFor(static_cast<int64_t>(states_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) EvaluateCluster(c, q);
  });
}

double CondensedTerm::Value(const Point& point) {
  Evaluate(point.q);
  double sum = 0;
  for (const ClusterState& s : states_) sum += s.value;
  sum += FoldingEnergy(*body_, point.q);
  if (damped()) sum += 0.5 * damping_ * DampingForce(point.q, nullptr);
  return sum;
}

void CondensedTerm::AddGradient(const Point& point, VecX* gradient) {
  Evaluate(point.q);
  for (const ClusterState& s : states_) {
    for (size_t k = 0; k < n(); ++k) gradient->segment<3>(3 * (first_node_ + k)) += s.rotation * At(s.h, stride(), k);
  }
  AddFoldingGradient(point.q, gradient);
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

// With u = R^T dq and the turn w = W u of the cluster's frame, W_k = (tr S I - S)^-1 [g_k]x, dy = u + L w, L_k = [p_k]x, and
//   d2E = u^T K u + 2 u^T C w + w^T B w,   C = K L - [h]x,   B = L^T K L + sym(sum f p^T) - (sum f . p) I + 1/2 (S [z]x - [z]x S):
// besides K a part of rank six, (C + 1/2 W^T B) W and its transpose.
void CondensedTerm::FindTurning(size_t c) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  ClusterState& s = states_[c];
  const size_t st = stride();
  Mat3 b = Mat3::Zero();
  for (int m = 0; m < 3; ++m) {
    std::fill(s.scratch.begin(), s.scratch.end(), 0.0);
    for (size_t k = 0; k < n(); ++k) Set(At(s.p, st, k).cross(Vec3::Unit(m)), st, k, &s.scratch);
    Multiply(cluster, n(), st, s.scratch, &s.u[m]);
  }
  Mat3 moment = Mat3::Zero();
  for (size_t k = 0; k < n(); ++k) {
    const Vec3 p = At(s.p, st, k), f = At(s.f, st, k), h = At(s.h, st, k);
    moment += f * p.transpose();
    for (int m = 0; m < 3; ++m) {
      const Vec3 kl = At(s.u[m], st, k);
      for (int i = 0; i < 3; ++i) b(i, m) += Vec3(p.cross(Vec3::Unit(i))).dot(kl);
      Set(kl - h.cross(Vec3::Unit(m)), st, k, &s.u[m]);
    }
  }
  const Mat3 z = CrossMatrix(s.z);
  b = (0.5 * (b + b.transpose() + moment + moment.transpose() + s.stretch * z - z * s.stretch) - moment.trace() * Mat3::Identity())
          .eval();
  for (size_t k = 0; k < n(); ++k) {
    const Mat3 w = s.torque_inverse * CrossMatrix(cluster.gradient[k]);  // rows: the turn; columns: u_k
    Mat3 part;
    for (int m = 0; m < 3; ++m) part.col(m) = At(s.u[m], st, k);
    part = s.rotation * (part + 0.5 * w.transpose() * b);
    const Mat3 turn = s.rotation * w.transpose();
    for (int m = 0; m < 3; ++m) {
      Set(part.col(m), st, k, &s.u[m]);
      Set(turn.col(m), st, k, &s.v[m]);
    }
  }
}

void CondensedTerm::AddRotated(size_t c, const Mat3& rotation, bool turning, std::vector<double>* dense) const {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  const ClusterState& s = states_[c];
  const size_t st = stride(), vertices = n();
  Quad r[3][3];
  for (int a = 0; a < 3; ++a) {
    for (int i = 0; i < 3; ++i) r[a][i] = Splat(rotation(a, i));
  }
  for (size_t l = 0; l < vertices; ++l) {
    for (size_t k = l / 4 * 4; k < st; k += 4) {
      Quad half[3][3];  // [a][j] = sum_i R_ai K_ij
      for (int j = 0; j < 3; ++j) {
        const double* column = cluster.stiffness.data() + (j * vertices + l) * 3 * st + k;
        const Quad k0 = LoadQuad(column), k1 = LoadQuad(column + st), k2 = LoadQuad(column + 2 * st);
        for (int a = 0; a < 3; ++a) half[a][j] = r[a][0] * k0 + r[a][1] * k1 + r[a][2] * k2;
      }
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          double* out = dense->data() + ((3 * a + b) * vertices + l) * st + k;
          Quad sum = LoadQuad(out) + half[a][0] * r[b][0] + half[a][1] * r[b][1] + half[a][2] * r[b][2];
          if (turning) {
            for (int m = 0; m < 3; ++m) {
              sum += LoadQuad(s.u[m].data() + a * st + k) * s.v[m][b * st + l] +
                     LoadQuad(s.v[m].data() + a * st + k) * s.u[m][b * st + l];
            }
          }
          StoreQuad(sum, out);
        }
      }
    }
  }
}

Mat3 CondensedTerm::DenseBlock(const std::vector<double>& dense, size_t k, size_t l) const {
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
  if (!projected_) {
    pool_->ParallelFor(static_cast<int64_t>(states_.size()), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) FindTurning(c);
    });
  }
  for (size_t c = 0; c < states_.size(); ++c) AddRotated(c, states_[c].rotation, !projected_, &dense_);
  size_t slot = 0;
  for (size_t k = 0; k < n(); ++k) {
    for (size_t l = 0; l <= k; ++l) hessian->AddAt(slots_[slot++], DenseBlock(dense_, k, l));
  }
  AddFoldingHessian(point.q, hessian);
}

void CondensedTerm::AddFoldingGradient(const VecX& q, VecX* gradient) const {
  for (size_t e = 0; e < body_->nodes.size(); ++e) {
    const Folding folding = FoldingOf(*body_, e, q);
    if (!(folding.missing > 0)) continue;
    const std::array<Vec3, 4> volume = VolumeGradient(folding);
    const double pressure = condensed_->bulk_modulus_pa * body_->volume[e] * folding.missing;
    for (int a = 0; a < 4; ++a) gradient->segment<3>(3 * body_->nodes[e][a]) -= pressure * volume[a];
  }
}

// With d2 det F [u_a, u_b] = (u_a x u_b) . F (g_a x g_b).
void CondensedTerm::AddFoldingHessian(const VecX& q, BlockMatrix* hessian) const {
  for (size_t e = 0; e < body_->nodes.size(); ++e) {
    const Folding folding = FoldingOf(*body_, e, q);
    if (!(folding.missing > 0)) continue;
    const std::array<Vec3, 4> volume = VolumeGradient(folding);
    const double stiffness = condensed_->bulk_modulus_pa * body_->volume[e];
    const Tet& t = body_->nodes[e];
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b) {
        Mat3 block = stiffness * volume[a] * volume[b].transpose();
        if (!projected_) {
          block += stiffness * folding.missing * CrossMatrix(folding.f * folding.gradient[a].cross(folding.gradient[b]));
        }
        hessian->Add(t[a], t[b], block);
      }
    }
  }
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
  const size_t n = condensed.vertices(), stride = condensed.stride();
  const Vec3 center = CenterOf(q, first, n);
  double sum = FoldingEnergy(body, q);
  for (const CondensedStiffness::Cluster& cluster : condensed.clusters) {
    const Mat3 back = PolarOf(MeanGradient(cluster, first, q)).rotation.transpose();
    const auto strain = [&](size_t k) -> Vec3 { return back * (q.segment<3>(3 * (first + k)) - center) - condensed.rest[k]; };
    for (size_t l = 0; l < n; ++l) {
      const Vec3 y = strain(l);
      Vec3 force = Vec3::Zero();
      for (size_t k = 0; k < n; ++k) {
        const Vec3 other = strain(k);
        for (size_t j = 0; j < 3; ++j) {
          const double* column = cluster.stiffness.data() + (j * n + l) * 3 * stride + k;
          force[j] += column[0] * other[0] + column[stride] * other[1] + column[2 * stride] * other[2];
        }
      }
      sum += 0.5 * y.dot(force);
    }
  }
  return sum;
}

}  // namespace eipc
