#ifndef EIPC_SIM_LINALG_LOW_RANK_H_
#define EIPC_SIM_LINALG_LOW_RANK_H_

#include <Eigen/LU>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/types.h"

namespace eipc {

// sum_k w_k g_k g_k^T with w_k > 0 over stacked node positions: what couples all nodes of a body with each other and is never
// stored as a matrix. Slots are kept between uses, so nothing is allocated once they have their size.
class LowRank {
 public:
  void Clear() { count_ = 0; }
  // A zero vector of `size` for the next g; its weight is w.
  VecX& Add(double w, Eigen::Index size);

  int count() const { return count_; }
  double weight(int k) const { return weights_[k]; }
  const VecX& vector(int k) const { return vectors_[k]; }

  // y += sum_k w_k g_k (g_k . x), in order.
  void AddTimes(const VecX& x, VecX* y) const;

 private:
  int count_ = 0;
  std::vector<double> weights_;
  std::vector<VecX> vectors_;
};

// Solves (A + G W G^T) y = r given a solver of A (Sherman & Morrison 1950, Woodbury 1950):
//   y = z - Z S^-1 G^T z,   z = A^-1 r,   Z = A^-1 G,   S = W^-1 + G^T Z.
// A need not be symmetric. Equations are scaled by W, so that weights of any size are allowed.
class Woodbury {
 public:
  using Solve = std::function<void(VecX* rhs)>;

  // Over the free nodes: entries of `fixed` nodes are taken as zero in every g. `solve` is of A and returns entries of fixed nodes
  // as given. False when S is singular.
  bool Prepare(const LowRank& update, const std::vector<uint8_t>& fixed, const Solve& solve);
  // z = A^-1 r becomes y, in place.
  void Correct(VecX* z);

 private:
  int count_ = 0;
  std::vector<VecX> masked_;  // G
  std::vector<VecX> solved_;  // Z
  VecX weights_;
  Eigen::MatrixXd scaled_;  // W S = I + W G^T Z
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  VecX along_, share_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_LOW_RANK_H_
