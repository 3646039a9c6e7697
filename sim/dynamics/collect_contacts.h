#ifndef EIPC_SIM_DYNAMICS_COLLECT_CONTACTS_H_
#define EIPC_SIM_DYNAMICS_COLLECT_CONTACTS_H_

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "sim/contact/contact_forces.h"
#include "sim/dynamics/stage_problem.h"

namespace eipc {

// Forces of the problem's current point: the barrier's of its active stencils, friction's of the lagged ones (those are what the
// solved equations balance). Both are matched by stencil; the order is that of the active stencils, then the others. Keeps what it
// needs for that from one time to the next.
class ContactCollector {
 public:
  // `potentials`, where given: contact energy of each active stencil, which come first in `out`, over the barrier's stiffness, m^2.
  void Collect(const StageProblem& problem, ContactForces* out, std::vector<double>* potentials);

 private:
  struct StencilName {
    ContactKind kind;
    std::array<int32_t, 4> v;
    size_t index;
    friend bool operator<(const StencilName& a, const StencilName& b) { return std::tie(a.kind, a.v) < std::tie(b.kind, b.v); }
  };
  std::vector<StencilName> names_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_COLLECT_CONTACTS_H_
