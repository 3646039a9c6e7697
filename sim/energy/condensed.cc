#include "sim/energy/condensed.h"

#include <algorithm>
#include <cmath>

#include "sim/base/quad.h"
#include "sim/energy/condensed_body.h"
#include "sim/energy/folding.h"
#include "sim/energy/same_deformation.h"
#include "sim/energy/symmetric_law.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 1;
constexpr int64_t kColumnGrain = 8;
constexpr size_t kTurning = 6;  // rank of what the turn of a cluster's frame adds to its Hessian
Mat3 CrossMatrix(const Vec3& w) {
  Mat3 m;
  m << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
  return m;
}

Rows RowsOf(const std::vector<Vec3>& vectors, size_t stride) {
  Rows rows(3 * stride, 0);
  for (size_t k = 0; k < vectors.size(); ++k) {
    for (size_t i = 0; i < 3; ++i) rows[i * stride + k] = vectors[k][static_cast<int>(i)];
  }
  return rows;
}

// scale * C E, E and the result six rows.
void MultiplySix(const Mat6& c, double scale, const double* e, size_t rows, double* out) {
  std::fill_n(out, 6 * rows, 0.0);
  for (int m = 0; m < 6; ++m) {
    std::array<double, 6> row;
    for (int q = 0; q < 6; ++q) row[static_cast<size_t>(q)] = scale * c(m, q);
    AddSix(row, e, rows, out + static_cast<size_t>(m) * rows);
  }
}

}  // namespace

CondensedTerm::CondensedTerm(const ElasticBody* body, ThreadPool* pool, double same_tangent)
    : body_(body),
      condensed_(body->condensed.get()),
      pool_(pool),
      first_node_(FirstNode(*body)),
      same_tangent_(same_tangent),
      law_(IsotropicStiffness(condensed_->bulk_modulus_pa, condensed_->shear_modulus_pa)),
      law_inverse_(law_.inverse()),
      evaluated_(first_node_, static_cast<int32_t>(n())) {
  const size_t rows = 3 * stride();
  rest_ = RowsOf(condensed_->rest, stride());
  position_.assign(rows, 0);
  for (const CondensedStiffness::Cluster& cluster : condensed_->clusters) {
    gradients_.push_back(RowsOf(cluster.gradient, stride()));
    ClusterState& s = states_.emplace_back();
    for (Rows* vector : {&s.p, &s.y, &s.f, &s.h}) vector->assign(rows, 0);
    for (Rows& vector : s.turned) vector.assign(rows, 0);
    s.deformation.resize(cluster.volume.size());
    s.held_deformation.resize(cluster.volume.size());
    s.beyond.reserve(cluster.volume.size());
    s.left.assign(cluster.strain.size(), 0);
    for (Rows* vectors : {&s.turning_left, &s.turning_right}) vectors->assign(kTurning * rows, 0);
  }
  dense_.assign(9 * stride() * n(), 0);
  if (damped()) start_ = dense_;
}

void CondensedTerm::BeginStage(const StageContext& stage) {
  damping_ = body_->rayleigh_beta_s / stage.gamma_h;
  projected_ = false;
  evaluated_.Forget();
  if (!damped()) return;
  q_tilde_ = stage.q_tilde;
  Evaluate(stage.q_start);
  std::fill(start_.begin(), start_.end(), 0.0);
  AddRotated(Stiffness::kLinear, &start_);
}

void CondensedTerm::EvaluateCluster(size_t c) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  const Rows& gradient = gradients_[c];
  ClusterState& s = states_[c];
  const size_t st = stride();
  s.frame = FrameOf(OuterSum(position_, gradient, st));
  TurnRows(s.frame.rotation.transpose(), position_, st, &s.p);
  s.y = s.p;
  AddScaled(-1, rest_.data(), 3 * st, s.y.data());
  MultiplySymmetric<1>(cluster.stiffness.data(), n(), st, {s.y.data()}, {s.f.data()});
  s.value = 0.5 * DotRows(s.y, s.f);
  AddStrains(c);
  s.z = s.frame.torque_inverse * CrossSum(OuterSum(s.p, s.f, st));
  s.h = s.f;
  AddCross(-s.z, gradient, st, s.h.data());
}

// Of the mean strains of the cluster's parts, what the material has beyond small strain.
void CondensedTerm::AddStrains(size_t c) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  ClusterState& s = states_[c];
  const size_t rows = 3 * stride();
  for (size_t part = 0; part < cluster.volume.size(); ++part) {
    const double* const strain = StrainOf(cluster, part);
    const double volume = cluster.volume[part];
    const std::array<double, 6> mean = DotSix(strain, s.y.data(), rows);
    const Vec6 e = Vec6::Map(mean.data()), linear = law_ * e;
    s.deformation[part] = Mat3::Identity() + SymmetricFrom(e);
    s.value += volume * (DensityOf(body_->material, s.deformation[part]) - 0.5 * e.dot(linear));
    std::array<double, 6> force;
    Vec6::Map(force.data()) = volume * (StressOf(body_->material, s.deformation[part]) - linear);
    AddSix(force, strain, rows, s.f.data());
  }
}

void CondensedTerm::Evaluate(const VecX& q) {
  if (evaluated_.Is(q)) return;
  evaluated_.Note(q);
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
      gradient->segment<3>(3 * (first_node_ + k)) += s.frame.rotation * Vec3(s.h[k], s.h[stride() + k], s.h[2 * stride() + k]);
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
  const size_t rows = 3 * stride();
  s.beyond.clear();
  for (size_t part = 0; part < cluster.volume.size(); ++part) {
    const Mat6 beyond = TangentOf(body_->material, s.deformation[part], !projected_) - law_, share = law_inverse_ * beyond;
    // The trace of its square is the square of the Frobenius norm of C^-1/2 (C_s - C) C^-1/2.
    if (share.cwiseProduct(share.transpose()).sum() < same_tangent_ * same_tangent_) continue;
    MultiplySix(beyond, cluster.volume[part], StrainOf(cluster, part), rows, s.left.data() + 6 * s.beyond.size() * rows);
    s.beyond.push_back(part);
  }
}

// With K = K_c + sum_s V_s E_s^T (C_s - C) E_s, u = R^T dq and the turn w = W u of the cluster's frame, dy = u + L w,
// W_k = T [g_k]x, T = (tr S I - S)^-1, L_k = [p_k]x, and
//   d2E = u^T K u + 2 u^T A w + w^T B w,   A = K L - [h]x,   B = L^T K L + sym(sum f p^T) - (sum f . p) I + 1/2 (S [z]x - [z]x S):
// besides K a part of rank six, (A + 1/2 W^T B) W and its transpose.
void CondensedTerm::FindTurning(size_t c) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  const Rows& gradient = gradients_[c];
  ClusterState& s = states_[c];
  const size_t st = stride(), rows = 3 * st;
  std::array<double*, 3> turned, u, v;
  for (size_t m = 0; m < 3; ++m) {
    turned[m] = s.turned[m].data(), u[m] = s.turning_left.data() + m * rows, v[m] = s.turning_right.data() + m * rows;
    std::fill_n(turned[m], rows, 0.0);
    AddCross(-Vec3::Unit(static_cast<int>(m)), s.p, st, turned[m]);
  }
  MultiplySymmetric<3>(cluster.stiffness.data(), n(), st, {turned[0], turned[1], turned[2]}, u);
  for (size_t i = 0; i < s.beyond.size(); ++i) {
    const double *const strain = StrainOf(cluster, s.beyond[i]), *const left = s.left.data() + 6 * i * rows;
    for (size_t m = 0; m < 3; ++m) AddSix(DotSix(strain, turned[m], rows), left, rows, u[m]);
  }
  Mat3 b = Products({turned[0], turned[1], turned[2]}, {u[0], u[1], u[2]}, rows);
  const Mat3 moment = OuterSum(s.f, s.p, st), z = CrossMatrix(s.z);
  b = (0.5 * (b + b.transpose() + moment + moment.transpose() + s.frame.stretch * z - z * s.frame.stretch) -
       moment.trace() * Mat3::Identity())
          .eval();
  const Mat3 half = 0.5 * s.frame.torque_inverse * b;
  for (size_t m = 0; m < 3; ++m) {
    const auto column = static_cast<int>(m);
    AddCross(Vec3::Unit(column), s.h, st, u[m]);
    AddCross(half.col(column), gradient, st, u[m]);
    std::fill_n(v[m], rows, 0.0);
    AddCross(s.frame.torque_inverse.col(column), gradient, st, v[m]);
    std::copy_n(v[m], rows, s.turning_left.data() + (3 + m) * rows);
    std::copy_n(u[m], rows, s.turning_right.data() + (3 + m) * rows);
  }
}

namespace {

// block[i][j] += a_i b_j: a row of four nodes on the left, one node on the right.
inline void AddProduct(const double* a, const double* b, size_t stride, Quad block[3][3]) {
  const Quad a0 = LoadQuad(a), a1 = LoadQuad(a + stride), a2 = LoadQuad(a + 2 * stride);
  for (size_t j = 0; j < 3; ++j) {
    const double s = b[j * stride];
    block[0][j] += s * a0, block[1][j] += s * a1, block[2][j] += s * a2;
  }
}

}  // namespace

// What the parts of a cluster have beyond small strain, to the block of four nodes from k and node l.
inline void CondensedTerm::AddParts(size_t c, size_t k, size_t l, Quad block[3][3]) const {
  const size_t st = stride(), rows = 3 * st;
  const ClusterState& s = states_[c];
  for (size_t i = 0; i < s.beyond.size(); ++i) {
    const double *const strain = StrainOf(condensed_->clusters[c], s.beyond[i]) + l, *const left = s.left.data() + 6 * i * rows + k;
    for (size_t m = 0; m < 6; ++m) AddProduct(left + m * rows, strain + m * rows, st, block);
  }
}

void CondensedTerm::AddColumn(size_t l, size_t c, Stiffness kind, Rows* dense) const {
  const size_t st = stride(), vertices = n(), rows = 3 * st;
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  const ClusterState& s = states_[c];
  const size_t of_turning = kind == Stiffness::kExact ? kTurning : 0;
  for (size_t k = l / 4 * 4; k < st; k += 4) {
    Quad block[3][3];
    for (size_t j = 0; j < 3; ++j) {
      const double* column = cluster.stiffness.data() + (j * vertices + l) * rows + k;
      for (size_t i = 0; i < 3; ++i) block[i][j] = LoadQuad(column + i * st);
    }
    if (kind != Stiffness::kLinear) AddParts(c, k, l, block);
    for (size_t r = 0; r < of_turning; ++r) {
      AddProduct(s.turning_left.data() + r * rows + k, s.turning_right.data() + r * rows + l, st, block);
    }
    for (int a = 0; a < 3; ++a) {
      Quad half[3];  // row a of R K
      for (int j = 0; j < 3; ++j) {
        half[j] =
            s.frame.rotation(a, 0) * block[0][j] + s.frame.rotation(a, 1) * block[1][j] + s.frame.rotation(a, 2) * block[2][j];
      }
      for (int b = 0; b < 3; ++b) {
        double* out = dense->data() + ((3 * static_cast<size_t>(a) + b) * vertices + l) * st + k;
        StoreQuad(LoadQuad(out) +
                      (half[0] * s.frame.rotation(b, 0) + half[1] * s.frame.rotation(b, 1) + half[2] * s.frame.rotation(b, 2)),
                  out);
      }
    }
  }
}

void CondensedTerm::AddRotated(Stiffness kind, Rows* dense) {
  pool_->ParallelFor(static_cast<int64_t>(n()), kColumnGrain, [&](int64_t begin, int64_t end) {
    for (size_t c = 0; c < states_.size(); ++c) {
      for (int64_t l = begin; l < end; ++l) AddColumn(l, c, kind, dense);
    }
  });
}

Mat3 CondensedTerm::DenseBlock(const Rows& dense, size_t k, size_t l) const {
  Mat3 block;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) block(a, b) = dense[((3 * a + b) * n() + l) * stride() + k];
  }
  return block;
}

// Of clusters and parts: parts are as fine as the cage, so that what varies within them has not changed much either.
bool CondensedTerm::HessianHolds(const Point& point) {
  Evaluate(point.q);
  const auto same = [](const Mat3& a, const Mat3& b) { return (a - b).squaredNorm() < kSameDeformation * kSameDeformation; };
  if (folded_ || FoldingEnergy(FoldingOf(*condensed_), *body_, point.q) > 0) return false;
  return std::all_of(states_.begin(), states_.end(), [&](const ClusterState& s) {
    return same(s.frame.rotation, s.held_rotation) &&
           std::equal(s.deformation.begin(), s.deformation.end(), s.held_deformation.begin(), same);
  });
}

void CondensedTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  Evaluate(point.q);
  folded_ = FoldingEnergy(FoldingOf(*condensed_), *body_, point.q) > 0;
  for (ClusterState& s : states_) {
    s.held_rotation = s.frame.rotation;
    s.held_deformation = s.deformation;
  }
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

}  // namespace eipc
