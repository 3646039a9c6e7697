#ifndef EIPC_SIM_DYNAMICS_MISSED_CONTACTS_H_
#define EIPC_SIM_DYNAMICS_MISSED_CONTACTS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/contact/contact_potential.h"
#include "sim/contact/contact_set.h"
#include "sim/energy/surface_map.h"
#include "sim/solver/met_contact.h"

namespace eipc {

// The contacts of a point that was reached along a direction, whose force at the direction's end the quadratic model at its start
// misses (NewtonProblem::FindContactsMet).
class MissedContacts {
 public:
  // Contacts at one point.
  struct Present {
    const ContactSet& contacts;
    const ContactPotential& potential;
    const std::vector<Vec3>& x;
    const SurfaceMap& map;
  };
  // What the model knows: those at the start.
  void Remember(const Present& start);
  // Of those at the point that `direction` was followed to up to `fraction`, at most `most` that are not in *met, by how much is
  // missed.
  void Collect(const Present& reached, const VecX& direction, double fraction, size_t most, MetContacts* met);

 private:
  using Vertices = std::array<int32_t, 4>;  // ascending
  struct Known {
    Vertices v;
    double force, stiffness;  // N, N/m
  };
  struct Missed {
    double force;  // N, beyond what is known
    int32_t stencil;
    Known known;
    double closing;  // along the direction, m
    double scale;
  };
  Known Find(const Vertices& v) const;

  std::vector<Known> known_;  // by vertices
  std::vector<Missed> missed_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_MISSED_CONTACTS_H_
