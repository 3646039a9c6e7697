#ifndef EIPC_CLIENT_CPP_GEOMETRY_H_
#define EIPC_CLIENT_CPP_GEOMETRY_H_

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace eipc::client {

using Vector3 = std::array<double, 3>;

// p_world = rotation * p_frame + position.
struct Pose {
  Vector3 position_m = {0, 0, 0};
  std::array<double, 4> quaternion_wxyz = {1, 0, 0, 0};
};

// Vectors, row-major [n,3], in the unit of what holds them.
class Vectors {
 public:
  Vectors() = default;
  explicit Vectors(std::vector<double> values) : values_(std::move(values)) {}
  size_t size() const { return values_.size() / 3; }
  bool empty() const { return values_.empty(); }
  std::span<const double, 3> operator[](size_t i) const { return std::span<const double, 3>(values_.data() + 3 * i, 3); }
  std::span<const double> flat() const { return values_; }

 private:
  std::vector<double> values_;
};

// Points, m.
using Positions = Vectors;

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_GEOMETRY_H_
