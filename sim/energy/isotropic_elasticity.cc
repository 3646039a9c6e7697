#include "sim/energy/isotropic_elasticity.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <variant>

#include "sim/energy/same_deformation.h"
#include "sim/energy/tet_pattern.h"
#include "sim/material/lane_svd.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 16;

template <typename M>
concept ByFours = requires(const M& material, const LaneDeformation& d, const Vec3s& sigma) {
  material.Respond(d);
  material.Modes(sigma);
};

// Calls f with the body's material, which is one of those treated by fours.
template <typename F>
void VisitMaterial(const ElasticBody& body, const F& f) {
  std::visit(
      [&](const auto& material) {
        if constexpr (ByFours<std::decay_t<decltype(material)>>) f(material);
      },
      body.material);
}

LastPoint PointOf(const ElasticBody& body) {
  int32_t first = body.nodes[0][0], last = first;
  for (const Tet& t : body.nodes) {
    for (const int32_t node : t) first = std::min(first, node), last = std::max(last, node);
  }
  return {first, last - first + 1};
}

// Of the box around the body's nodes, m.
double Diagonal(const ElasticBody& body, const VecX& q) {
  Vec3 least = q.segment<3>(3 * body.nodes[0][0]), most = least;
  for (const Tet& t : body.nodes) {
    for (const int32_t node : t) {
      least = least.cwiseMin(q.segment<3>(3 * node));
      most = most.cwiseMax(q.segment<3>(3 * node));
    }
  }
  return (most - least).norm();
}

// All ten blocks from those of nodes 1 to 3: rigid translation costs nothing, so the blocks of a row cancel.
void Complete(const std::array<Mat3s, 6>& inner, TetLanes::Blocks* blocks) {
  constexpr int kInner[3][3] = {{0, 1, 3}, {1, 2, 4}, {3, 4, 5}};
  constexpr int kFirst[4] = {0, 1, 3, 6};  // of node a: its block with node 0
  Mat3s total = {};
  for (int a = 0; a < 3; ++a) {
    Mat3s& with_first = (*blocks)[kFirst[a + 1]];
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) {
        Quad sum = {};
        for (int b = 0; b < 3; ++b) sum += b <= a ? inner[kInner[a][b]][j][i] : inner[kInner[a][b]][i][j];
        with_first[j][i] = -sum;
        total[j][i] += sum;
      }
    }
    for (int b = 0; b <= a; ++b) (*blocks)[kFirst[a + 1] + 1 + b] = inner[kInner[a][b]];
  }
  (*blocks)[0] = total;
}

}  // namespace

bool IsotropicTerm::Serves(const ElasticBody& body) {
  return std::visit([](const auto& material) { return ByFours<std::decay_t<decltype(material)>>; }, body.material);
}

IsotropicTerm::IsotropicTerm(const ElasticBody* body, ThreadPool* pool)
    : body_(body), pool_(pool), tets_(*body), evaluated_(PointOf(*body)) {
  const size_t groups = tets_.groups().size();
  frame_.assign(groups, IdentityInEveryLane());
  if (damped()) start_.resize(groups);
  VisitMaterial(*body, [&](const auto& material) {
    holds_ = !std::decay_t<decltype(material)>::kForbidsInversion;
    const LaneModes at_rest = material.Modes({Splat(1), Splat(1), Splat(1)});  // lambda couples, flips have 2 mu
    lambda_over_mu_ = 2 * at_rest.coupling[0][0] / at_rest.flip[0][0];
  });
  volume_ = std::accumulate(body->volume.begin(), body->volume.end(), 0.0);
  if (holds_) held_at_.assign(groups, IdentityInEveryLane());
  value_.resize(groups);
  forces_.resize(groups);
}

template <typename F>
void IsotropicTerm::ForEachGroup(const F& f) {
  pool_->ParallelFor(static_cast<int64_t>(tets_.groups().size()), kGrain, [&f](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) f(static_cast<size_t>(g));
  });
}

template <typename M>
void IsotropicTerm::Begin(const M& material, size_t g, const StageContext& stage) {
  const TetLanes::Group& group = tets_.groups()[g];
  const SignedSvds svd = ComputeSignedSvd(DeformationGradients(group, stage.q_start), IdentityInEveryLane());
  frame_[g] = svd.v;
  if (!damped()) return;
  LaneModes modes = material.Modes(svd.sigma);
  eipc::Project(&modes);
  start_[g] = {modes, svd.u, DeformationGradients(group, stage.q_tilde)};
}

void IsotropicTerm::BeginStage(const StageContext& stage) {
  damping_ = body_->rayleigh_beta_s / stage.gamma_h;
  projected_ = false;
  evaluated_.Forget();
  if (holds_) same_deformation_ = SameDeformation(Diagonal(*body_, stage.q_start), volume_, lambda_over_mu_);
  VisitMaterial(*body_, [&](const auto& material) { ForEachGroup([&](size_t g) { Begin(material, g, stage); }); });
}

template <typename M>
void IsotropicTerm::EvaluateGroup(const M& material, size_t g, const VecX& q) {
  const TetLanes::Group& group = tets_.groups()[g];
  const Mat3s f = DeformationGradients(group, q);
  LaneResponse response = material.Respond(LaneDeformation::Of(f));
  if (damped()) {
    const Mat3s rate = Difference(f, start_[g].f_tilde);
    const Mat3s stress = Apply(start_[g].modes, start_[g].u, frame_[g], rate);
    response.psi += 0.5 * damping_ * (Dot(rate[0], stress[0]) + Dot(rate[1], stress[1]) + Dot(rate[2], stress[2]));
    response.p = Combination(Splat(1), response.p, Splat(damping_), stress);
  }
  value_[g] =
      group.volume > 0 ? group.volume * response.psi : Quad{};  // lanes without an element repeat one, whose energy may be infinite
  forces_[g] = StressForces(group, response.p);
}

void IsotropicTerm::Evaluate(const VecX& q) {
  if (evaluated_.Is(q)) return;
  evaluated_.Note(q);
  VisitMaterial(*body_, [&](const auto& material) { ForEachGroup([&](size_t g) { EvaluateGroup(material, g, q); }); });
}

double IsotropicTerm::Value(const Point& point) {
  Evaluate(point.q);
  Quad sum = {};
  for (const Quad& value : value_) sum += value;
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void IsotropicTerm::AddGradient(const Point& point, VecX* gradient) {
  Evaluate(point.q);
  tets_.AddForces(forces_, gradient);
}

template <typename M>
void IsotropicTerm::FindBlocks(const M& material, size_t g, const VecX& q, TetLanes::Blocks* blocks) {
  const TetLanes::Group& group = tets_.groups()[g];
  const Mat3s f = DeformationGradients(group, q);
  if (holds_) held_at_[g] = f;
  const SignedSvds svd = ComputeSignedSvd(f, frame_[g]);
  LaneModes modes = material.Modes(svd.sigma);
  if (projected_) eipc::Project(&modes);
  const Mat3s gradient = {group.gradient[1], group.gradient[2], group.gradient[3]};
  std::array<Mat3s, 6> inner = {};
  AddPullBack(modes, svd.u, svd.v, gradient, group.volume, &inner);
  if (damped()) AddPullBack(start_[g].modes, start_[g].u, frame_[g], gradient, damping_ * group.volume, &inner);
  Complete(inner, blocks);
}

void IsotropicTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  VisitMaterial(*body_, [&](const auto& material) {
    tets_.AddEachGroup(
        pool_, [&](size_t g, TetLanes::Blocks* blocks) { FindBlocks(material, g, point.q, blocks); }, hessian);
  });
}

bool IsotropicTerm::HessianHolds(const Point& point) {
  std::atomic<bool> holds = true;
  ForEachGroup([&](size_t g) {
    if (!holds.load(std::memory_order_relaxed)) return;
    const Mat3s change = Difference(DeformationGradients(tets_.groups()[g], point.q), held_at_[g]);
    const Quad squared = Dot(change[0], change[0]) + Dot(change[1], change[1]) + Dot(change[2], change[2]);
    // Not a number is no small one.
    if (!(LargestOf(squared) < same_deformation_ * same_deformation_)) holds.store(false, std::memory_order_relaxed);
  });
  return holds;
}

bool IsotropicTerm::Project() {
  const bool exact = !projected_;
  projected_ = true;
  return exact;
}

void IsotropicTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const { AppendTetPairs(body_->nodes, pairs); }

void IsotropicTerm::BindPattern(const BlockMatrix& hessian) { tets_.BindPattern(hessian); }

}  // namespace eipc
