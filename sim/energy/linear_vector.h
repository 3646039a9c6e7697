#ifndef EIPC_SIM_ENERGY_LINEAR_VECTOR_H_
#define EIPC_SIM_ENERGY_LINEAR_VECTOR_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/types.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// A vector in the world that is linear in node positions, m: sum of weights * q(node) + constant. A point of a body, say, or how
// far a point of one body is from a point of another.
struct LinearVector {
  std::vector<int32_t> nodes;  // ascending, each once
  std::vector<double> weights;
  Vec3 constant = Vec3::Zero();

  // Adds `factor` times the point J q + offset whose row this is.
  void Add(double factor, const EmbeddingRow& row, const Vec3& offset);
  void Add(double factor, const LinearVector& other);

  Vec3 At(const VecX& q) const { return constant + Change(q); }
  // Bound on the rounding error of At, m.
  double Rounding(const VecX& q) const {
    double sum = constant.norm();
    for (size_t k = 0; k < nodes.size(); ++k) sum += std::abs(weights[k]) * q.segment<3>(3 * nodes[k]).norm();
    return std::numeric_limits<double>::epsilon() * sum;
  }
  // By how much a displacement of the nodes changes it.
  Vec3 Change(const VecX& d) const {
    Vec3 sum = Vec3::Zero();
    for (size_t k = 0; k < nodes.size(); ++k) sum += weights[k] * d.segment<3>(3 * nodes[k]);
    return sum;
  }

 private:
  void AddNode(int32_t node, double weight);
};

// A force on a node, N.
struct NodeForce {
  int32_t node = 0;
  Vec3 force = Vec3::Zero();
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_LINEAR_VECTOR_H_
