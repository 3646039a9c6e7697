#ifndef EIPC_SIM_DYNAMICS_MAKE_TERMS_H_
#define EIPC_SIM_DYNAMICS_MAKE_TERMS_H_

#include <memory>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/dynamics/model.h"
#include "sim/energy/elasticity.h"
#include "sim/energy/term.h"

namespace eipc {

// The one place where terms of the generalized coordinates are registered (contact terms live with the contact set, in
// StageProblem). `elastic` points into `terms`: those that may limit a step.
void MakeTerms(const Model& model, ThreadPool* pool, std::vector<std::unique_ptr<EnergyTerm>>* terms,
               std::vector<ElasticityTerm*>* elastic);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_MAKE_TERMS_H_
