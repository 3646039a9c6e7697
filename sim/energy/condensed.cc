#include "sim/energy/condensed.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

// Of the box around these points, m.
double Diagonal(const std::vector<Vec3>& points) {
  Vec3 least = points[0], most = least;
  for (const Vec3& p : points) least = least.cwiseMin(p), most = most.cwiseMax(p);
  return (most - least).norm();
}

// Parts are treated by fours.
size_t FoursOf(size_t parts) { return (parts + 3) / 4; }

}  // namespace

CondensedTerm::CondensedTerm(const ElasticBody* body, ThreadPool* pool, double same_tangent)
    : body_(body),
      condensed_(body->condensed.get()),
      pool_(pool),
      first_node_(FirstNode(*body)),
      same_tangent_(same_tangent),
      tangents_(condensed_->bulk_modulus_pa, condensed_->shear_modulus_pa),
      evaluated_(first_node_, static_cast<int32_t>(n())) {
  const size_t rows = 3 * stride();
  double volume = 0;
  for (const CondensedStiffness::Cluster& c : condensed_->clusters)
    volume = std::accumulate(c.volume.begin(), c.volume.end(), volume);
  same_deformation_ =
      SameDeformation(Diagonal(condensed_->rest), volume, condensed_->bulk_modulus_pa / condensed_->shear_modulus_pa - 2.0 / 3);
  rest_ = RowsOf(condensed_->rest, stride());
  position_.assign(rows, 0);
  for (const CondensedStiffness::Cluster& cluster : condensed_->clusters) {
    gradients_.push_back(RowsOf(cluster.gradient, stride()));
    ClusterState& s = states_.emplace_back();
    for (Rows* vector : {&s.p, &s.y, &s.f, &s.h}) vector->assign(rows, 0);
    for (Rows& vector : s.turned) vector.assign(rows, 0);
    s.e.resize(FoursOf(cluster.volume.size()));
    s.held_e.resize(s.e.size());
    s.terms.assign(cluster.strain.size(), 0);
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
  MultiplySymmetric(cluster.stiffness.data(), n(), st, s.y.data(), s.f.data());
  s.value = 0.5 * DotRows(s.y, s.f);
  AddStrains(c);
  s.z = s.frame.torque_inverse * CrossSum(OuterSum(s.p, s.f, st));
  s.h = s.f;
  AddCross(-s.z, gradient, st, s.h.data());
}

// Of the mean strains of the cluster's parts, what the material has beyond small strain.
void CondensedTerm::AddStrains(size_t c) {
  for (size_t four = 0; four < states_[c].e.size(); ++four) AddFourParts(c, four);
}

void CondensedTerm::AddFourParts(size_t c, size_t four) {
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  ClusterState& s = states_[c];
  const size_t rows = 3 * stride(), first = 4 * four, parts = std::min<size_t>(4, cluster.volume.size() - first);
  Vec6s e = {};
  Quad volume = {};
  for (size_t lane = 0; lane < parts; ++lane) {
    const std::array<double, 6> mean = DotSix(StrainOf(cluster, first + lane), s.y.data(), rows);
    for (size_t m = 0; m < 6; ++m) e[m][lane] = mean[m];
    volume[lane] = cluster.volume[first + lane];
  }
  s.e[four] = e;
  const SymmetricResponse response = ResponseTo(body_->material, e);
  const double shear = condensed_->shear_modulus_pa, lame = condensed_->bulk_modulus_pa - 2 * shear / 3;
  const Quad pressure = lame * (e[0] + e[1] + e[2]);
  Quad linear_energy = {};
  Vec6s force;
  for (size_t m = 0; m < 6; ++m) {
    const Quad linear = m < 3 ? pressure + 2 * shear * e[m] : 2 * shear * e[m];
    linear_energy += 0.5 * (e[m] * linear);
    force[m] = volume * (response.stress[m] - linear);
  }
  const Quad value = volume * (response.psi - linear_energy);
  for (size_t lane = 0; lane < parts; ++lane) {
    s.value += value[lane];
    std::array<double, 6> of_part;
    for (size_t m = 0; m < 6; ++m) of_part[m] = force[m][lane];
    AddSix(of_part, StrainOf(cluster, first + lane), rows, s.f.data());
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
  const size_t rows = 3 * stride(), most = 6 * cluster.volume.size();
  s.stiffer = s.softer = 0;
  for (size_t part = 0; part < cluster.volume.size(); part += 4) {
    const std::array<TangentTerms::Terms, 4> terms = tangents_.At(body_->material, s.e[part / 4], !projected_, same_tangent_);
    for (size_t lane = 0; lane < std::min<size_t>(4, cluster.volume.size() - part); ++lane) {
      const double root = std::sqrt(cluster.volume[part + lane]);
      for (int i = 0; i < terms[lane].count; ++i) {
        const TangentTerms::Term& term = terms[lane].of[static_cast<size_t>(i)];
        std::array<double, 6> shares;
        for (size_t m = 0; m < 6; ++m) shares[m] = root * term.direction[static_cast<int>(m)];
        double* const row = s.terms.data() + rows * (term.stiffer ? s.stiffer++ : most - ++s.softer);
        std::fill_n(row, rows, 0.0);
        AddSix(shares, StrainOf(cluster, part + lane), rows, row);
      }
    }
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
  MultiplyThree(cluster.stiffness.data(), n(), st, {turned[0], turned[1], turned[2]}, u);
  for (size_t i = 0; i < s.stiffer + s.softer; ++i) {
    const double* const row = s.terms.data() + rows * (i < s.stiffer ? i : 6 * cluster.volume.size() - 1 - (i - s.stiffer));
    const double sign = i < s.stiffer ? 1 : -1;
    for (size_t m = 0; m < 3; ++m) AddScaled(sign * DotRows(row, turned[m], rows), row, rows, u[m]);
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

// block[i][j] += kSign a_i b_j: a row of four nodes on the left, one node on the right.
template <int kSign>
inline void AddProduct(const double* a, const double* b, size_t stride, Quad block[3][3]) {
  const Quad a0 = LoadQuad(a), a1 = LoadQuad(a + stride), a2 = LoadQuad(a + 2 * stride);
  for (size_t j = 0; j < 3; ++j) {
    const double s = b[j * stride];
    if constexpr (kSign > 0) {
      block[0][j] += s * a0, block[1][j] += s * a1, block[2][j] += s * a2;
    } else {
      block[0][j] -= s * a0, block[1][j] -= s * a1, block[2][j] -= s * a2;
    }
  }
}

// The products of `count` rows with themselves.
template <int kSign>
inline void AddSquares(const double* row, size_t count, size_t k, size_t l, size_t stride, Quad block[3][3]) {
  for (size_t r = 0; r < count; ++r, row += 3 * stride) AddProduct<kSign>(row + k, row + l, stride, block);
}

}  // namespace

void CondensedTerm::AddColumn(size_t l, size_t c, Stiffness kind, Rows* dense) const {
  const size_t st = stride(), vertices = n(), rows = 3 * st;
  const CondensedStiffness::Cluster& cluster = condensed_->clusters[c];
  const ClusterState& s = states_[c];
  const size_t of_turning = kind == Stiffness::kExact ? kTurning : 0;
  const size_t stiffer = kind == Stiffness::kLinear ? 0 : s.stiffer, softer = kind == Stiffness::kLinear ? 0 : s.softer;
  const double* const softer_rows = s.terms.data() + s.terms.size() - softer * rows;
  for (size_t k = l / 4 * 4; k < st; k += 4) {
    Quad block[3][3];
    for (size_t j = 0; j < 3; ++j) {
      const double* column = cluster.stiffness.data() + (j * vertices + l) * rows + k;
      for (size_t i = 0; i < 3; ++i) block[i][j] = LoadQuad(column + i * st);
    }
    AddSquares<1>(s.terms.data(), stiffer, k, l, st, block);
    AddSquares<-1>(softer_rows, softer, k, l, st, block);
    for (size_t r = 0; r < of_turning; ++r) {
      AddProduct<1>(s.turning_left.data() + r * rows + k, s.turning_right.data() + r * rows + l, st, block);
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
  const double most = same_deformation_ * same_deformation_;
  const auto same = [most](const Vec6s& a, const Vec6s& b) {
    Quad squared = {};
    for (size_t m = 0; m < 6; ++m) squared += (a[m] - b[m]) * (a[m] - b[m]);
    return !Any(~(squared < most));
  };
  if (folded_ || FoldingEnergy(FoldingOf(*condensed_), *body_, point.q) > 0) return false;
  return std::all_of(states_.begin(), states_.end(), [&](const ClusterState& s) {
    return (s.frame.rotation - s.held_rotation).squaredNorm() < most && std::equal(s.e.begin(), s.e.end(), s.held_e.begin(), same);
  });
}

void CondensedTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  Evaluate(point.q);
  folded_ = FoldingEnergy(FoldingOf(*condensed_), *body_, point.q) > 0;
  for (ClusterState& s : states_) {
    s.held_rotation = s.frame.rotation;
    s.held_e = s.e;
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
