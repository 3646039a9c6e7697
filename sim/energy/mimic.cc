#include "sim/energy/mimic.h"

#include <algorithm>
#include <cmath>

namespace eipc {
namespace {

double CoordinateAt(const JointCoordinate& coordinate, const VecX& q, double reference) {
  const double value = coordinate.Value(q);
  return coordinate.kind() == CoordinateKind::kAngle ? Unwrapped(value, reference) : value;
}

void AppendAlong(const JointCoordinate& coordinate, const VecX& q, double effort, std::vector<NodeForce>* forces) {
  CoordinateValue s;
  Differentiate(coordinate.kind(), coordinate.At(q), &s);
  for (size_t k = 0; k < coordinate.nodes().size(); ++k) {
    forces->push_back({coordinate.nodes()[k], effort * coordinate.ByNode(k, s.gradient)});
  }
}

}  // namespace

MimicTerm::MimicTerm(const JointCoordinate* follower, const JointCoordinate* leader, const MimicLaw& law)
    : coordinates_{follower, leader}, law_(law) {
  for (const JointCoordinate* c : coordinates_) nodes_.insert(nodes_.end(), c->nodes().begin(), c->nodes().end());
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  for (int c = 0; c < 2; ++c) {
    for (const int32_t node : coordinates_[c]->nodes()) {
      places_[c].push_back(std::lower_bound(nodes_.begin(), nodes_.end(), node) - nodes_.begin());
    }
  }
  slopes_.resize(nodes_.size());
}

double MimicTerm::Gap(const VecX& q) const {
  return CoordinateAt(*coordinates_[0], q, references_[0]) - law_.multiplier * CoordinateAt(*coordinates_[1], q, references_[1]) -
         law_.offset;
}

double MimicTerm::Value(const Point& point) {
  const double gap = Gap(point.q);
  return 0.5 * law_.stiffness * gap * gap;
}

double MimicTerm::Rounding(const Point& point) {
  double by = 0;
  for (int c = 0; c < 2; ++c) {
    CoordinateValue s;
    Differentiate(coordinates_[c]->kind(), coordinates_[c]->At(point.q), &s);
    for (int v = 0; v < VectorCount(coordinates_[c]->kind()); ++v) {
      by += (c == 0 ? 1 : std::abs(law_.multiplier)) * s.gradient.segment<3>(3 * v).norm() * coordinates_[c]->Rounding(point.q, v);
    }
  }
  return law_.stiffness * by * (std::abs(Gap(point.q)) + by);
}

void MimicTerm::AppendFollowerForces(const VecX& q, std::vector<NodeForce>* forces) const {
  AppendAlong(*coordinates_[0], q, FollowerEffort(q), forces);
}

void MimicTerm::AppendLeaderForces(const VecX& q, std::vector<NodeForce>* forces) const {
  AppendAlong(*coordinates_[1], q, LeaderEffort(q), forces);
}

void MimicTerm::AddGradient(const Point& point, VecX* gradient) {
  const std::array<double, 2> slope = {-FollowerEffort(point.q), -LeaderEffort(point.q)};
  for (int c = 0; c < 2; ++c) {
    const JointCoordinate& coordinate = *coordinates_[c];
    CoordinateValue s;
    Differentiate(coordinate.kind(), coordinate.At(point.q), &s);
    for (size_t k = 0; k < coordinate.nodes().size(); ++k) {
      gradient->segment<3>(3 * coordinate.nodes()[k]) += slope[c] * coordinate.ByNode(k, s.gradient);
    }
  }
}

void MimicTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  const std::array<double, 2> slope = {-FollowerEffort(point.q), -LeaderEffort(point.q)};
  const std::array<double, 2> share = {1, -law_.multiplier};
  std::fill(slopes_.begin(), slopes_.end(), Vec3::Zero());
  for (int c = 0; c < 2; ++c) {
    const JointCoordinate& coordinate = *coordinates_[c];
    CoordinateValue s;
    Differentiate(coordinate.kind(), coordinate.At(point.q), &s);
    for (size_t k = 0; k < coordinate.nodes().size(); ++k) slopes_[places_[c][k]] += share[c] * coordinate.ByNode(k, s.gradient);
    coordinate.AddHessian(ProjectedToPsd(slope[c] * s.hessian), hessian);
  }
  for (size_t a = 0; a < nodes_.size(); ++a) {
    for (size_t b = 0; b <= a; ++b) hessian->Add(nodes_[a], nodes_[b], law_.stiffness * slopes_[a] * slopes_[b].transpose());
  }
}

void MimicTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  for (size_t a = 0; a < nodes_.size(); ++a) {
    for (size_t b = 0; b < a; ++b) pairs->emplace_back(nodes_[a], nodes_[b]);
  }
}

}  // namespace eipc
