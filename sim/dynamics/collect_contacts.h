#ifndef EIPC_SIM_DYNAMICS_COLLECT_CONTACTS_H_
#define EIPC_SIM_DYNAMICS_COLLECT_CONTACTS_H_

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/stage_problem.h"

namespace eipc {

// Forces of the problem's current point: the barrier's of its active stencils, friction's of the lagged ones (those are what the
// solved equations balance). Both are matched by stencil; the order is that of the active stencils, then the others.
void CollectContacts(const StageProblem& problem, ContactForces* out);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_COLLECT_CONTACTS_H_
