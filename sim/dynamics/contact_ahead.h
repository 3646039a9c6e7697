#ifndef EIPC_SIM_DYNAMICS_CONTACT_AHEAD_H_
#define EIPC_SIM_DYNAMICS_CONTACT_AHEAD_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/collision/candidate.h"
#include "sim/collision/vertex_list.h"
#include "sim/contact/contact_stencil.h"
#include "sim/dynamics/hessian_pattern.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/surface_state.h"
#include "sim/linalg/block_matrix.h"

namespace eipc {

// Couplings of what is not in contact yet but near it. A pattern of the Hessian that has them serves several steps where contact
// spreads or slides; each new one costs a symbolic factorization and a second assembly.
class ContactAhead {
 public:
  // Not with small factors, nor with surfaces that are much finer than what moves them: the search takes longer then than what it
  // saves.
  static bool Pays(const Model& model);
  // `model` and `surface` outlive this.
  ContactAhead(const Model* model, SurfaceState* surface);

  // Sorts `pairs`. Of each two bodies that one of them couples, adds the pairs of nodes of all features that are within kAhead dhat
  // of their reach, but for those that `present`, where given, has; nothing where many more features are near than `contacts`, of
  // the current point of the surface, has. That point, `pairs` and the pattern of `present` alone decide what is added.
  void Append(const std::vector<ContactStencil>& contacts, const BlockMatrix* present, NodePairs* pairs);

 private:
  struct Meeting {
    std::pair<int32_t, int32_t> bodies;
    int64_t contacts = 0;
  };
  void FindMeetings(const NodePairs& pairs);
  void CountContacts(const std::vector<ContactStencil>& contacts);
  void FindNear(const Meeting& meeting, const BlockMatrix* present);
  // Returns how many of them are near.
  int64_t TakeNear(const std::vector<Candidate>& candidates, const BlockMatrix* present);

  const Model* model_;
  SurfaceState* surface_;
  const double ahead_;              // m
  std::vector<int32_t> node_body_;  // -1: it carries no surface
  std::vector<Meeting> meetings_;   // by bodies
  VertexList vertices_;
  NodePairs of_candidate_, near_, added_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_CONTACT_AHEAD_H_
