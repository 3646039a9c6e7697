#include "sim/energy/elasticity.h"

#include <algorithm>
#include <variant>

#include "sim/energy/tet_pattern.h"
#include "sim/material/invertible_step.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

constexpr int64_t kGrain = 64;

// Blocks of V B^T C B for the pairs (a >= b), B the constant map from nodes to vec(F), column-major.
void PullBackElement(const Mat9& c, const std::array<Vec3, 4>& g, double volume, std::array<Mat3, 10>* blocks) {
  // half[a] (3x9) = sum_j g_a[j] C[rows of column j, :].
  std::array<Eigen::Matrix<double, 3, 9>, 4> half;
  for (int a = 0; a < 4; ++a) {
    half[a] = volume * (g[a][0] * c.middleRows<3>(0) + g[a][1] * c.middleRows<3>(3) + g[a][2] * c.middleRows<3>(6));
  }
  int k = 0;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b <= a; ++b, ++k) {
      (*blocks)[k] = half[a].middleCols<3>(0) * g[b][0] + half[a].middleCols<3>(3) * g[b][1] + half[a].middleCols<3>(6) * g[b][2];
    }
  }
}

}  // namespace

Mat3 DeformationGradient(const ElasticBody& body, size_t e, const VecX& q) {
  const Tet& t = body.nodes[e];
  const Vec3 x0 = q.segment<3>(3 * t[0]);
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = q.segment<3>(3 * t[k + 1]) - x0;
  return edges * body.inverse_rest[e];
}

ElasticityTerm::ElasticityTerm(const ElasticBody* body, ThreadPool* pool) : body_(body), pool_(pool) {
  const size_t n = body->nodes.size();
  shape_gradient_.resize(n);
  for (size_t e = 0; e < n; ++e) {
    for (int k = 0; k < 3; ++k) shape_gradient_[e][k + 1] = body->inverse_rest[e].row(k);
    shape_gradient_[e][0] = -(shape_gradient_[e][1] + shape_gradient_[e][2] + shape_gradient_[e][3]);
  }
  rotation_.assign(n, Mat3::Identity());
  if (damped()) {
    damping_stiffness_.resize(n);
    f_tilde_.resize(n);
  }
  element_value_.resize(n);
  element_stress_.resize(n);
  element_hessian_.resize(n);
}

void ElasticityTerm::BeginStage(const StageContext& stage) {
  damping_ = body_->rayleigh_beta_s / stage.gamma_h;
  std::visit(
      [&](const auto& material) {
        pool_->ParallelFor(static_cast<int64_t>(body_->nodes.size()), kGrain, [&](int64_t begin, int64_t end) {
          for (int64_t e = begin; e < end; ++e) {
            const Mat3 f = DeformationGradient(*body_, e, stage.q_start);
            rotation_[e] = PolarRotation(f);
            if (!damped()) continue;
            damping_stiffness_[e] = material.ProjectedHessian(f, rotation_[e]);
            f_tilde_[e] = DeformationGradient(*body_, e, stage.q_tilde);
          }
        });
      },
      body_->material);
}

template <typename M>
double ElasticityTerm::ElementValue(const M& material, size_t e, const VecX& q) const {
  const Mat3 f = DeformationGradient(*body_, e, q);
  double density = material.Psi(f, rotation_[e]);
  if (damped()) {
    const Mat3 rate = f - f_tilde_[e];
    const Eigen::Map<const Vec9> r(rate.data());
    density += 0.5 * damping_ * r.dot(damping_stiffness_[e] * r);
  }
  return body_->volume[e] * density;
}

template <typename M>
Mat3 ElasticityTerm::ElementStress(const M& material, size_t e, const VecX& q) const {
  const Mat3 f = DeformationGradient(*body_, e, q);
  Mat3 stress = material.P(f, rotation_[e]);
  if (damped()) {
    const Mat3 rate = f - f_tilde_[e];
    const Vec9 extra = damping_ * (damping_stiffness_[e] * Eigen::Map<const Vec9>(rate.data()));
    stress += Eigen::Map<const Mat3>(extra.data());
  }
  return body_->volume[e] * stress;
}

double ElasticityTerm::Value(const Point& point) {
  std::visit(
      [&](const auto& material) {
        pool_->ParallelFor(static_cast<int64_t>(body_->nodes.size()), kGrain, [&](int64_t begin, int64_t end) {
          for (int64_t e = begin; e < end; ++e) element_value_[e] = ElementValue(material, e, point.q);
        });
      },
      body_->material);
  double sum = 0;
  for (double value : element_value_) sum += value;
  return sum;
}

void ElasticityTerm::AddGradient(const Point& point, VecX* gradient) {
  std::visit(
      [&](const auto& material) {
        pool_->ParallelFor(static_cast<int64_t>(body_->nodes.size()), kGrain, [&](int64_t begin, int64_t end) {
          for (int64_t e = begin; e < end; ++e) element_stress_[e] = ElementStress(material, e, point.q);
        });
      },
      body_->material);
  for (size_t e = 0; e < body_->nodes.size(); ++e) {
    for (int a = 0; a < 4; ++a) gradient->segment<3>(3 * body_->nodes[e][a]) += element_stress_[e] * shape_gradient_[e][a];
  }
}

void ElasticityTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  std::visit(
      [&](const auto& material) {
        pool_->ParallelFor(static_cast<int64_t>(body_->nodes.size()), kGrain, [&](int64_t begin, int64_t end) {
          for (int64_t e = begin; e < end; ++e) {
            Mat9 c = material.ProjectedHessian(DeformationGradient(*body_, e, point.q), rotation_[e]);
            if (damped()) c += damping_ * damping_stiffness_[e];
            PullBackElement(c, shape_gradient_[e], body_->volume[e], &element_hessian_[e]);
          }
        });
      },
      body_->material);
  for (size_t e = 0; e < body_->nodes.size(); ++e) {
    for (int k = 0; k < 10; ++k) {
      const Mat3& block = element_hessian_[e][k];
      hessian->AddAt(slots_[e][k], transposed_[e][k] ? Mat3(block.transpose()) : block);
    }
  }
}

bool ElasticityTerm::constant_hessian() const {
  return std::visit([](const auto& material) { return std::decay_t<decltype(material)>::kConstantHessian; }, body_->material);
}

void ElasticityTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const { AppendTetPairs(body_->nodes, pairs); }

void ElasticityTerm::BindPattern(const BlockMatrix& hessian) {
  slots_.resize(body_->nodes.size());
  transposed_.resize(body_->nodes.size());
  for (size_t e = 0; e < body_->nodes.size(); ++e) {
    const Tet& t = body_->nodes[e];
    int k = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b, ++k) {
        transposed_[e][k] = t[a] < t[b];
        slots_[e][k] = hessian.Find(std::max(t[a], t[b]), std::min(t[a], t[b]));
      }
    }
  }
}

double ElasticityTerm::StoredEnergy(const ElasticBody& body, const VecX& q) {
  double sum = 0;
  std::visit(
      [&](const auto& material) {
        for (size_t e = 0; e < body.nodes.size(); ++e) {
          const Mat3 f = DeformationGradient(body, e, q);
          sum += body.volume[e] * material.Psi(f, PolarRotation(f));
        }
      },
      body.material);
  return sum;
}

double ElasticityTerm::MaxStep(const ElasticBody& body, const VecX& q, const VecX& dq) {
  const bool forbids =
      std::visit([](const auto& material) { return std::decay_t<decltype(material)>::kForbidsInversion; }, body.material);
  if (!forbids) return 1;
  double step = 1;
  for (size_t e = 0; e < body.nodes.size(); ++e) {
    // A tenth of the volume may be left after one step: the barrier -mu ln J is steep there already.
    step = std::min(step, MaxInversionFreeStep(DeformationGradient(body, e, q), DeformationGradient(body, e, dq), 0.1));
  }
  return step;
}

}  // namespace eipc
