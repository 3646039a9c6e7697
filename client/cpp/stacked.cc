#include "client/cpp/stacked.h"

#include <algorithm>

namespace eipc::client {
namespace {

constexpr size_t kPose = 7, kWrench = 12;

Vector3 VectorAt(std::span<const double> numbers, size_t at) { return {numbers[at], numbers[at + 1], numbers[at + 2]}; }

}  // namespace

int StackedObservations::FindBody(const std::string& name) const {
  const auto found = std::find(bodies.begin(), bodies.end(), name);
  return found == bodies.end() ? -1 : static_cast<int>(found - bodies.begin());
}

Pose StackedObservations::BodyPose(size_t row, size_t body) const {
  const std::span<const double> pose = poses[row].subspan(kPose * body, kPose);
  return {VectorAt(pose, 0), {pose[3], pose[4], pose[5], pose[6]}};
}

ContactWrench StackedObservations::Wrench(size_t row, size_t pair) const {
  const std::span<const double> wrench = contact_wrenches[row].subspan(kWrench * pair, kWrench);
  return {pairs[pair].first,   pairs[pair].second,  VectorAt(wrench, 0),
          VectorAt(wrench, 3), VectorAt(wrench, 6), VectorAt(wrench, 9)};
}

}  // namespace eipc::client
