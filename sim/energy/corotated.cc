#include "sim/energy/corotated.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/energy/tet_pattern.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 16;

using Vec3s = std::array<Quad, 3>;
using Mat3s = std::array<Vec3s, 3>;

Quad Dot(const Vec3s& a, const Vec3s& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vec3s Cross(const Vec3s& a, const Vec3s& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Quad SquaredNorm(const Mat3s& m) { return Dot(m[0], m[0]) + Dot(m[1], m[1]) + Dot(m[2], m[2]); }

Vec3s Times(const Mat3s& m, const Vec3s& v) {
  Vec3s out;
  for (int i = 0; i < 3; ++i) out[i] = m[0][i] * v[0] + m[1][i] * v[1] + m[2][i] * v[2];
  return out;
}

Mat3s Difference(const Mat3s& a, const Mat3s& b) {
  Mat3s out;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) out[j][i] = a[j][i] - b[j][i];
  }
  return out;
}

// Symmetric: 11, 22, 33, 12, 13, 23.
using Symmetric = std::array<Quad, 6>;

// eps(a) = (r^T a + a^T r) / 2.
Symmetric Strain(const Mat3s& r, const Mat3s& a) {
  return {Dot(r[0], a[0]),
          Dot(r[1], a[1]),
          Dot(r[2], a[2]),
          0.5 * (Dot(r[0], a[1]) + Dot(r[1], a[0])),
          0.5 * (Dot(r[0], a[2]) + Dot(r[2], a[0])),
          0.5 * (Dot(r[1], a[2]) + Dot(r[2], a[1]))};
}

// Psi(e) = mu |e|^2 + lambda/2 tr(e)^2.
Quad Psi(double mu, double lambda, const Symmetric& e) {
  const Quad trace = e[0] + e[1] + e[2];
  const Quad norm2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 2 * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5]);
  return mu * norm2 + (0.5 * lambda) * (trace * trace);
}

Mat3 Lane(const Mat3s& m, int lane) {
  Mat3 out;
  for (int j = 0; j < 3; ++j) out.col(j) << m[j][0][lane], m[j][1][lane], m[j][2][lane];
  return out;
}

// One pass of PolarRotation (sim/material/svd.cc) without its scaling, which is for what is far from a rotation. Lanes that are not
// well conditioned are noted in `bad`. Returns the squared change.
Quad PolarPass(Mat3s* r, std::array<bool, 4>* bad) {
  constexpr double kWellConditioned = 1e-3;
  const Mat3s cofactor = {Cross((*r)[1], (*r)[2]), Cross((*r)[2], (*r)[0]), Cross((*r)[0], (*r)[1])};
  const Quad det = Dot((*r)[0], cofactor[0]), size2 = SquaredNorm(*r), size6 = size2 * size2 * size2;
  for (int lane = 0; lane < 4; ++lane) {  // det > kWellConditioned size^3; also when not finite
    if (!(det[lane] > 0 && det[lane] * det[lane] > kWellConditioned * kWellConditioned * size6[lane])) (*bad)[lane] = true;
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

CorotatedTerm::CorotatedTerm(const ElasticBody* body, ThreadPool* pool)
    : body_(body),
      pool_(pool),
      mu_(std::get<LinearCorotated>(body->material).mu()),
      lambda_(std::get<LinearCorotated>(body->material).lambda()),
      elements_(body->nodes.size()),
      groups_((elements_ + 3) / 4) {
  for (size_t k = 0; k < 4 * groups_.size(); ++k) {
    Group& group = groups_[k / 4];
    const int lane = static_cast<int>(k % 4);
    const size_t e = std::min(k, elements_ - 1);
    const Tet& tet = body->nodes[e];
    std::array<int, 4> by_node = {0, 1, 2, 3};
    std::sort(by_node.begin(), by_node.end(), [&tet](int a, int b) { return tet[a] < tet[b]; });
    std::array<Vec3, 4> gradient;
    for (int a = 0; a < 3; ++a) gradient[a + 1] = body->inverse_rest[e].row(a);
    gradient[0] = -(gradient[1] + gradient[2] + gradient[3]);
    for (int a = 0; a < 4; ++a) {
      group.nodes[lane][a] = tet[by_node[a]];
      for (int i = 0; i < 3; ++i) group.gradient[a][i][lane] = gradient[by_node[a]][i];
    }
    group.volume[lane] = k < elements_ ? body->volume[e] : 0;
  }
  rotation_.resize(groups_.size());
  if (damped()) f_tilde_.resize(groups_.size());
  value_.resize(groups_.size());
  forces_.resize(groups_.size());
  blocks_.resize(groups_.size());
  slots_.resize(elements_);
}

// F = sum_a (x_a - x_0) g_a^T.
CorotatedTerm::Mat3s CorotatedTerm::Deformation(const Group& group, const VecX& q) {
  std::array<Vec3s, 4> x;
  for (int a = 0; a < 4; ++a) {
    const double* of[4];
    for (int lane = 0; lane < 4; ++lane) of[lane] = q.data() + 3 * group.nodes[lane][a];
    for (int i = 0; i < 3; ++i) x[a][i] = Quad{of[0][i], of[1][i], of[2][i], of[3][i]};
  }
  Mat3s f = {};
  for (int a = 1; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) {
      const Quad edge = x[a][i] - x[0][i];
      for (int j = 0; j < 3; ++j) f[j][i] += edge * group.gradient[a][j];
    }
  }
  return f;
}

void CorotatedTerm::SetRotation(size_t g, const VecX& q) {
  constexpr int kPasses = 12;
  const Mat3s f = Deformation(groups_[g], q);
  Mat3s r = f;
  std::array<bool, 4> bad = {};
  bool settled = false;
  for (int pass = 0; pass < kPasses && !settled; ++pass) {
    const Quad change2 = PolarPass(&r, &bad);
    settled = true;  // the next change would be of the order of its square
    for (int lane = 0; lane < 4; ++lane) settled = settled && (bad[lane] || change2[lane] < 1e-18);
  }
  for (int lane = 0; lane < 4; ++lane) {
    if (settled && !bad[lane]) continue;
    const Mat3 rotation = PolarRotation(Lane(f, lane));
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) r[j][i][lane] = rotation(i, j);
    }
  }
  rotation_[g] = r;
}

void CorotatedTerm::BeginStage(const StageContext& stage) {
  damping_ = body_->rayleigh_beta_s / stage.gamma_h;
  pool_->ParallelFor(static_cast<int64_t>(groups_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      SetRotation(g, stage.q_start);
      if (damped()) f_tilde_[g] = Deformation(groups_[g], stage.q_tilde);
    }
  });
}

double CorotatedTerm::Value(const Point& point) {
  pool_->ParallelFor(static_cast<int64_t>(groups_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const Mat3s f = Deformation(groups_[g], point.q);
      Symmetric strain = Strain(rotation_[g], f);
      for (int i = 0; i < 3; ++i) strain[i] -= 1;
      Quad density = Psi(mu_, lambda_, strain);
      if (damped()) density += damping_ * Psi(mu_, lambda_, Strain(rotation_[g], Difference(f, f_tilde_[g])));
      value_[g] = groups_[g].volume * density;
    }
  });
  Quad sum = {};
  for (const Quad& value : value_) sum += value;
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// P = R0 (2 mu e + lambda tr(e) I), e the strain and damping times its rate; the force of node a is -V P g_a, and they cancel.
void CorotatedTerm::FindForces(size_t g, const VecX& q) {
  const Group& group = groups_[g];
  const Mat3s& r = rotation_[g];
  const Mat3s f = Deformation(group, q);
  Symmetric e = Strain(r, f);
  for (int i = 0; i < 3; ++i) e[i] -= 1;
  if (damped()) {
    const Symmetric rate = Strain(r, Difference(f, f_tilde_[g]));
    for (int i = 0; i < 6; ++i) e[i] += damping_ * rate[i];
  }
  const Quad diagonal = lambda_ * (e[0] + e[1] + e[2]);
  for (Quad& entry : e) entry *= 2 * mu_;
  for (int i = 0; i < 3; ++i) e[i] += diagonal;
  const Mat3s local = {Vec3s{e[0], e[3], e[4]}, Vec3s{e[3], e[1], e[5]}, Vec3s{e[4], e[5], e[2]}};
  std::array<Vec3s, 4>& out = forces_[g];
  out[0] = {};
  for (int a = 1; a < 4; ++a) {
    out[a] = Times(r, Times(local, group.gradient[a]));
    for (int i = 0; i < 3; ++i) {
      out[a][i] *= group.volume;
      out[0][i] -= out[a][i];
    }
  }
}

void CorotatedTerm::AddGradient(const Point& point, VecX* gradient) {
  pool_->ParallelFor(static_cast<int64_t>(groups_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) FindForces(g, point.q);
  });
  for (size_t e = 0; e < elements_; ++e) {
    const Tet& tet = groups_[e / 4].nodes[e % 4];
    const std::array<Vec3s, 4>& forces = forces_[e / 4];
    for (int a = 0; a < 4; ++a) {
      for (int i = 0; i < 3; ++i) (*gradient)[3 * tet[a] + i] += forces[a][i][e % 4];
    }
  }
}

// K_ab = V (mu (g_a . g_b) I + mu r_b r_a^T + lambda r_a r_b^T), r_a = R0 g_a: LinearCorotated::Hessian between two nodes. The
// damping stiffness is the stiffness.
void CorotatedTerm::FindBlocks(size_t g) {
  const Group& group = groups_[g];
  const Quad volume = (damped() ? 1 + damping_ : 1) * group.volume;
  std::array<Vec3s, 4> r;
  for (int a = 0; a < 4; ++a) r[a] = Times(rotation_[g], group.gradient[a]);
  int k = 0;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b <= a; ++b, ++k) {
      Mat3s& block = blocks_[g][k];
      const Quad mu_v = mu_ * volume, lambda_v = lambda_ * volume;
      for (int j = 0; j < 3; ++j) {
        const Quad mu_ra = mu_v * r[a][j], lambda_rb = lambda_v * r[b][j];
        for (int i = 0; i < 3; ++i) block[j][i] = r[b][i] * mu_ra + r[a][i] * lambda_rb;
      }
      const Quad diagonal = mu_v * Dot(group.gradient[a], group.gradient[b]);
      for (int j = 0; j < 3; ++j) block[j][j] += diagonal;
    }
  }
}

void CorotatedTerm::AddHessian(const Point& /*point*/, BlockMatrix* hessian) {
  pool_->ParallelFor(static_cast<int64_t>(groups_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) FindBlocks(g);
  });
  for (size_t g = 0; g < groups_.size(); ++g) {
    const size_t count = std::min<size_t>(4, elements_ - 4 * g);
    for (int k = 0; k < 10; ++k) {
      Quad columns[3][4];  // by column, then by element: three entries and a zero
      for (int j = 0; j < 3; ++j) {
        const Vec3s& column = blocks_[g][k][j];
        for (int i = 0; i < 3; ++i) columns[j][i] = column[i];
        columns[j][3] = Quad{};
        Transpose(columns[j]);
      }
      for (size_t lane = 0; lane < count; ++lane) {
        hessian->AddColumnsAt(slots_[4 * g + lane][k], {columns[0][lane], columns[1][lane], columns[2][lane]});
      }
    }
  }
}

void CorotatedTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const { AppendTetPairs(body_->nodes, pairs); }

void CorotatedTerm::BindPattern(const BlockMatrix& hessian) {
  for (size_t e = 0; e < elements_; ++e) {
    const Tet& t = groups_[e / 4].nodes[e % 4];
    int k = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b, ++k) slots_[e][k] = hessian.Find(t[a], t[b]);
    }
  }
}

}  // namespace eipc
