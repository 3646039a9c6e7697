#ifndef EIPC_SIM_LINALG_PRECONDITIONER_H_
#define EIPC_SIM_LINALG_PRECONDITIONER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/linalg/block_matrix.h"

namespace eipc {

// Cheap approximations of A^-1 for conjugate gradients (Hauth, "Numerical Techniques for Soft Object Simulation", 4.1), A the free
// part of a BlockMatrix (fixed nodes: identity rows).
enum class PreconditionerKind { kDiagonal, kBlock, kIncompleteCholesky };

class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  // `fixed` by node. False: the diagonal shows that A is not positive definite.
  virtual bool Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) = 0;
  // z = M^-1 r.
  virtual void Apply(const VecX& r, VecX* z) const = 0;
};

// `pool` may be null, and outlives the result; the number of its threads changes no bit.
std::unique_ptr<Preconditioner> MakePreconditioner(PreconditionerKind kind, ThreadPool* pool = nullptr);

// M = diag(A).
class DiagonalPreconditioner : public Preconditioner {
 public:
  bool Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) override;
  void Apply(const VecX& r, VecX* z) const override { *z = inverse_.cwiseProduct(r); }

 private:
  VecX inverse_;
};

// M = the 3x3 diagonal blocks of A.
class BlockPreconditioner : public Preconditioner {
 public:
  bool Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) override;
  void Apply(const VecX& r, VecX* z) const override;

 private:
  std::vector<Mat3> inverse_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_PRECONDITIONER_H_
