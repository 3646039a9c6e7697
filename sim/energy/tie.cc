#include "sim/energy/tie.h"

namespace eipc {

double TieTerm::Value(const Point& point) {
  double sum = 0;
  for (const Tie& tie : *ties_) sum += 0.5 * tie.stiffness * tie.gap.At(point.q).squaredNorm();
  return sum;
}

double TieTerm::Rounding(const Point& point) {
  double sum = 0;
  for (const Tie& tie : *ties_) {
    const double by = tie.gap.Rounding(point.q);
    sum += tie.stiffness * by * (tie.gap.At(point.q).norm() + by);
  }
  return sum;
}

void TieTerm::AddGradient(const Point& point, VecX* gradient) {
  for (const Tie& tie : *ties_) {
    const Vec3 pull = tie.stiffness * tie.gap.At(point.q);
    for (size_t k = 0; k < tie.gap.nodes.size(); ++k) gradient->segment<3>(3 * tie.gap.nodes[k]) += tie.gap.weights[k] * pull;
  }
}

void TieTerm::AddHessian(const Point&, BlockMatrix* hessian) {
  for (const Tie& tie : *ties_) {
    const LinearVector& gap = tie.gap;
    for (size_t a = 0; a < gap.nodes.size(); ++a) {
      for (size_t b = 0; b <= a; ++b) {
        hessian->Add(gap.nodes[a], gap.nodes[b], tie.stiffness * gap.weights[a] * gap.weights[b] * Mat3::Identity());
      }
    }
  }
}

void TieTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  for (const Tie& tie : *ties_) {
    for (size_t a = 0; a < tie.gap.nodes.size(); ++a) {
      for (size_t b = 0; b < a; ++b) pairs->emplace_back(tie.gap.nodes[a], tie.gap.nodes[b]);
    }
  }
}

void TieTerm::AppendForces(const VecX& q, std::vector<NodeForce>* forces) const {
  for (const Tie& tie : *ties_) {
    const Vec3 pull = tie.stiffness * tie.gap.At(q);
    for (size_t k = 0; k < tie.gap.nodes.size(); ++k) forces->push_back({tie.gap.nodes[k], -tie.gap.weights[k] * pull});
  }
}

}  // namespace eipc
