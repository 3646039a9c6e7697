#ifndef EIPC_SIM_ENERGY_JOINT_COORDINATE_H_
#define EIPC_SIM_ENERGY_JOINT_COORDINATE_H_

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/energy/linear_vector.h"
#include "sim/linalg/block_matrix.h"

namespace eipc {

// What a joint leaves free, as a function of vectors that are linear in node positions.
enum class CoordinateKind {
  kAngle,   // of u turned into w about the axis e: vectors e, u, w; rad in (-pi, pi], right-handed about e
  kTravel,  // of d along the axis e: vectors e, d; m
  kLength,  // of d: m
};
constexpr int VectorCount(CoordinateKind kind) {
  return kind == CoordinateKind::kAngle ? 3 : kind == CoordinateKind::kTravel ? 2 : 1;
}

using CoordinateVectors = std::array<Vec3, 3>;

using CoordinateMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 9, 9>;

// A coordinate with its derivatives by its vectors, stacked; sizes 3 * VectorCount, on the stack.
struct CoordinateValue {
  double value = 0;
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 9, 1> gradient;
  CoordinateMatrix hessian;
};

double CoordinateOf(CoordinateKind kind, const CoordinateVectors& v);
// Precondition: e is not zero. Derivatives of a length of zero are zero.
void Differentiate(CoordinateKind kind, const CoordinateVectors& v, CoordinateValue* out);
// The closest positive semidefinite matrix in the Frobenius norm.
CoordinateMatrix ProjectedToPsd(const CoordinateMatrix& m);
// The angle that differs from `angle` by whole turns and is closest to `reference`.
double Unwrapped(double angle, double reference);

// A coordinate of two bodies: its vectors by node.
class JointCoordinate {
 public:
  JointCoordinate() = default;
  JointCoordinate(CoordinateKind kind, const std::vector<LinearVector>& vectors);

  CoordinateKind kind() const { return kind_; }
  CoordinateVectors At(const VecX& q) const;
  double Value(const VecX& q) const { return CoordinateOf(kind_, At(q)); }

  // Bound on the rounding error of vector v at q, m.
  double Rounding(const VecX& q, int v) const;

  const std::vector<int32_t>& nodes() const { return nodes_; }  // ascending
  // Of node k in vector v.
  double weight(size_t k, int v) const { return weights_[k][v]; }
  // By node k, of what has this gradient by the vectors, stacked.
  template <typename Gradient>
  Vec3 ByNode(size_t k, const Gradient& by_vectors) const {
    Vec3 sum = Vec3::Zero();
    for (int v = 0; v < VectorCount(kind_); ++v) sum += weights_[k][v] * by_vectors.template segment<3>(3 * v);
    return sum;
  }
  // Adds the Hessian by nodes of what has this one by the vectors.
  void AddHessian(const CoordinateMatrix& by_vectors, BlockMatrix* hessian) const;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const;

 private:
  CoordinateKind kind_ = CoordinateKind::kLength;
  std::vector<int32_t> nodes_;
  std::vector<std::array<double, 3>> weights_;
  CoordinateVectors constants_ = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_JOINT_COORDINATE_H_
