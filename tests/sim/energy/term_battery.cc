#include "tests/sim/energy/term_battery.h"

#include <gtest/gtest.h>

namespace eipc::testing {

std::vector<Vec3> TermUnderTest::Positions(const VecX& q) const {
  std::vector<Vec3> x;
  if (map != nullptr) map->Positions(q, &x);
  if (follow) follow(x);
  return x;
}

double TermUnderTest::Value(const VecX& q) const {
  const std::vector<Vec3> x = Positions(q);
  return term->Value({q, x});
}

VecX TermUnderTest::Gradient(const VecX& q) const {
  const std::vector<Vec3> x = Positions(q);
  VecX gradient = VecX::Zero(q.size());
  term->AddGradient({q, x}, &gradient);
  return gradient;
}

MatX TermUnderTest::Hessian(const VecX& q) const {
  const std::vector<Vec3> x = Positions(q);
  BlockMatrix h;
  std::vector<std::pair<int32_t, int32_t>> pairs, missed;
  term->AppendPattern(&pairs);
  while (true) {
    pairs.insert(pairs.end(), missed.begin(), missed.end());
    std::vector<std::pair<int32_t, int32_t>> scratch = pairs;
    h.SetPattern(nodes, &scratch);
    term->BindPattern(h);
    term->AddHessian({q, x}, &h);
    if (h.missing()->empty()) return ToDense(h);
    missed = *h.missing();
  }
}

VecX TermUnderTest::GradientByDifference(const VecX& q, double h) const {
  return GradientByDifferences([this](const VecX& y) { return Value(y); }, q, h);
}

MatX TermUnderTest::HessianByDifference(const VecX& q, double h) const {
  return JacobianByDifferences([this](const VecX& y) { return Gradient(y); }, q, h);
}

MatX ToDense(const BlockMatrix& h) {
  MatX dense = MatX::Zero(3 * h.nodes(), 3 * h.nodes());
  for (int c = 0; c < h.nodes(); ++c) {
    for (int k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
      const Eigen::Map<const Mat3> block(h.values().data() + 9 * k);
      dense.block<3, 3>(3 * h.rows()[k], 3 * c) = block;
      dense.block<3, 3>(3 * c, 3 * h.rows()[k]) = block.transpose();
    }
  }
  return dense;
}

Vec3 TotalForce(const VecX& gradient) {
  Vec3 sum = Vec3::Zero();
  for (Eigen::Index i = 0; i < gradient.size(); i += 3) sum += gradient.segment<3>(i);
  return sum;
}

Vec3 TotalMoment(const VecX& q, const VecX& gradient) {
  Vec3 sum = Vec3::Zero();
  for (Eigen::Index i = 0; i < q.size(); i += 3) sum += Vec3(q.segment<3>(i)).cross(Vec3(gradient.segment<3>(i)));
  return sum;
}

VecX Moved(const VecX& q, const Pose& by) {
  VecX out = q;
  for (Eigen::Index i = 0; i < q.size(); i += 3) out.segment<3>(i) = by.Apply(q.segment<3>(i));
  return out;
}

}  // namespace eipc::testing
