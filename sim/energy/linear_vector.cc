#include "sim/energy/linear_vector.h"

#include <algorithm>

namespace eipc {

void LinearVector::AddNode(int32_t node, double weight) {
  const auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
  const auto index = at - nodes.begin();
  if (at != nodes.end() && *at == node) {
    weights[index] += weight;
    return;
  }
  nodes.insert(at, node);
  weights.insert(weights.begin() + index, weight);
}

void LinearVector::Add(double factor, const EmbeddingRow& row, const Vec3& offset) {
  for (int k = 0; k < row.count; ++k) AddNode(row.nodes[k], factor * row.weights[k]);
  constant += factor * offset;
}

void LinearVector::Add(double factor, const LinearVector& other) {
  for (size_t k = 0; k < other.nodes.size(); ++k) AddNode(other.nodes[k], factor * other.weights[k]);
  constant += factor * other.constant;
}

}  // namespace eipc
