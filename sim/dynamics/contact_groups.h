#ifndef EIPC_SIM_DYNAMICS_CONTACT_GROUPS_H_
#define EIPC_SIM_DYNAMICS_CONTACT_GROUPS_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/contact/contact_potential.h"
#include "sim/contact/contact_set.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/contact_frames.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/sleep_islands.h"
#include "sim/energy/surface_map.h"

namespace eipc {

// The bodies that contacts connect, where forces can open these: pairs whose both sides are prescribed, but for a small share, do
// not count. Prescribed bodies, and prescribed parts of others, belong to no group and do not connect any. What is measured of each
// is what the barrier's stiffness is chosen by (barrier_stiffness.h).
class ContactGroups {
 public:
  // All outlive this. `map` and `contacts` are those of the points below.
  ContactGroups(const Model* model, const SurfaceMap* map, const ContactSet* contacts);

  // ContactFrames::SetFixed.
  void SetFixed(const std::vector<uint8_t>* fixed) { frames_.SetFixed(fixed); }
  bool IsFixed(int32_t node) const { return frames_.IsFixed(node); }

  // The smallest gap that forces can open, as a part of its dhat; 1: there is none.
  double LeastGap() const;
  // The groups of the contacts' point, with their loads and least gaps; nodes go on with the velocities v.
  void Find(const VecX& v);
  // Marks the groups, found before, that these bodies are in or touch. By body, non-zero; empty: none.
  void MarkJammed(const std::vector<uint8_t>& bodies);
  // Energies: kinetic, stored and of contact. Velocities count beside the frame of each body (contact_frames.h): those of flying
  // and sliding together are left out, that of turning is not.
  void MeasureEnergies(const ContactPotential& potential, const std::vector<Vec3>& x, const VecX& q, const VecX& v);
  // Sums of the sizes, by free node, of `gradient`, which is contact's, and of M `acceleration`.
  void MeasureForces(const VecX& gradient, const VecX& acceleration);

  const std::vector<ContactGroup>& groups() const { return groups_; }

 private:
  bool CanOpen(const ContactStencil& stencil) const { return frames_.IsFree(stencil, 1) || frames_.IsFree(stencil, -1); }
  void JoinBodies();
  void FindFrames(const ContactPotential& potential, const std::vector<Vec3>& x, const VecX& v);
  template <typename Visit>
  void ForEachFreeNode(Visit visit) const;

  const Model* model_;
  const SurfaceMap* map_;
  const ContactSet* contacts_;
  ContactFrames frames_;
  std::vector<int32_t> body_of_elastic_;  // by Model::elastic
  SleepIslands islands_;
  std::vector<int32_t> group_of_;          // by body; -1: none
  std::vector<int32_t> group_of_stencil_;  // -1: forces do not open it
  std::vector<int32_t> group_of_island_;   // by the body that represents it
  std::vector<ContactGroup> groups_;
  VecX beside_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_CONTACT_GROUPS_H_
