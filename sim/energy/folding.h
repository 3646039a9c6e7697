#ifndef EIPC_SIM_ENERGY_FOLDING_H_
#define EIPC_SIM_ENERGY_FOLDING_H_

#include "sim/energy/elasticity.h"
#include "sim/linalg/block_matrix.h"

namespace eipc {

// sum_T V_T kappa/2 max(0, c_0 - det F_T)^2 over the tetrahedra of a body: keeps them from folding.
struct FoldingLaw {
  double stiffness_pa = 0;  // kappa
  double start = 0;         // c_0
};

double FoldingEnergy(const FoldingLaw& law, const ElasticBody& body, const VecX& q);
void AddFoldingGradient(const FoldingLaw& law, const ElasticBody& body, const VecX& q, VecX* gradient);
// Exact, or without the second derivative of det F: then positive semidefinite.
void AddFoldingHessian(const FoldingLaw& law, const ElasticBody& body, const VecX& q, bool exact, BlockMatrix* hessian);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_FOLDING_H_
