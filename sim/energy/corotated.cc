#include "sim/energy/corotated.h"

#include "sim/energy/tet_pattern.h"
#include "sim/material/lane_svd.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 16;

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

}  // namespace

CorotatedTerm::CorotatedTerm(const ElasticBody* body, ThreadPool* pool)
    : body_(body),
      pool_(pool),
      mu_(std::get<LinearCorotated>(body->material).mu()),
      lambda_(std::get<LinearCorotated>(body->material).lambda()),
      tets_(*body) {
  const size_t groups = tets_.groups().size();
  rotation_.resize(groups);
  if (damped()) f_tilde_.resize(groups);
  value_.resize(groups);
  forces_.resize(groups);
}

void CorotatedTerm::BeginStage(const StageContext& stage) {
  damping_ = body_->rayleigh_beta_s / stage.gamma_h;
  pool_->ParallelFor(static_cast<int64_t>(tets_.groups().size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      rotation_[g] = PolarRotation(DeformationGradients(tets_.groups()[g], stage.q_start));
      if (damped()) f_tilde_[g] = DeformationGradients(tets_.groups()[g], stage.q_tilde);
    }
  });
}

double CorotatedTerm::Value(const Point& point) {
  pool_->ParallelFor(static_cast<int64_t>(tets_.groups().size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const Mat3s f = DeformationGradients(tets_.groups()[g], point.q);
      Symmetric strain = Strain(rotation_[g], f);
      for (int i = 0; i < 3; ++i) strain[i] -= 1;
      Quad density = Psi(mu_, lambda_, strain);
      if (damped()) density += damping_ * Psi(mu_, lambda_, Strain(rotation_[g], Difference(f, f_tilde_[g])));
      value_[g] = tets_.groups()[g].volume * density;
    }
  });
  Quad sum = {};
  for (const Quad& value : value_) sum += value;
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// P = R0 (2 mu e + lambda tr(e) I), e the strain and damping times its rate; the force of node a is -V P g_a, and they cancel.
void CorotatedTerm::FindForces(size_t g, const VecX& q) {
  const TetLanes::Group& group = tets_.groups()[g];
  const Mat3s& r = rotation_[g];
  const Mat3s f = DeformationGradients(group, q);
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
  pool_->ParallelFor(static_cast<int64_t>(tets_.groups().size()), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) FindForces(g, point.q);
  });
  tets_.AddForces(forces_, gradient);
}

// K_ab = V (mu (g_a . g_b) I + mu r_b r_a^T + lambda r_a r_b^T), r_a = R0 g_a: LinearCorotated::Hessian between two nodes. The
// damping stiffness is the stiffness.
void CorotatedTerm::FindBlocks(size_t g, TetLanes::Blocks* blocks) const {
  const TetLanes::Group& group = tets_.groups()[g];
  const Quad volume = (damped() ? 1 + damping_ : 1) * group.volume;
  std::array<Vec3s, 4> r;
  for (int a = 0; a < 4; ++a) r[a] = Times(rotation_[g], group.gradient[a]);
  int k = 0;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b <= a; ++b, ++k) {
      Mat3s& block = (*blocks)[k];
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
  tets_.AddEachGroup(
      pool_, [this](size_t g, TetLanes::Blocks* blocks) { FindBlocks(g, blocks); }, hessian);
}

void CorotatedTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const { AppendTetPairs(body_->nodes, pairs); }

void CorotatedTerm::BindPattern(const BlockMatrix& hessian) { tets_.BindPattern(hessian); }

}  // namespace eipc
