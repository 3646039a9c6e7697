#ifndef EIPC_TESTS_SIM_CONTACT_STENCIL_CASES_H_
#define EIPC_TESTS_SIM_CONTACT_STENCIL_CASES_H_

// Contact stencils of every type of closest feature, at any gap, in general position.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/contact/barrier_stencil.h"
#include "sim/contact/contact_set.h"
#include "tests/support/random.h"

namespace eipc::testing {

// Two bodies of one triangle each, and the one pair of primitives of them that is evaluated. Surface vertices 0, 1, 2 are the first
// body's, 3, 4, 5 the second's. Point-triangle: vertex 0 against triangle {3, 4, 5}; edge-edge: {0, 1} against {3, 4}.
class OneContact {
 public:
  OneContact(ContactKind kind, const std::vector<Vec3>& rest, double dhat, BarrierForm form = BarrierForm::kPerPair);
  OneContact(const OneContact&) = delete;
  OneContact& operator=(const OneContact&) = delete;

  CollisionSurface& surface() { return surface_; }
  const ContactSet& contacts() const { return contacts_; }
  void Update(const std::vector<Vec3>& x);
  // The stencil at these positions; none when dhat apart.
  std::optional<ContactStencil> At(const std::vector<Vec3>& x);

 private:
  ThreadPool pool_{1};
  CollisionSurface surface_;
  ContactWeights weights_;
  ContactSet contacts_;
  std::vector<Candidate> candidates_;
};

struct StencilCase {
  std::string name;
  ContactKind kind;
  int free_count;  // of the closest points: 0 two points, 1 point and edge, 2 inside
  bool mollified;
  std::vector<Vec3> x;  // 6 vertices, `gap` apart, objects of about 0.1 m
};

// Every type of feature at this gap, turned and shifted at random, shapes varied.
std::vector<StencilCase> StencilCases(double gap, Random* random);

StencilPositions Pick(const ContactStencil& stencil, const std::vector<Vec3>& x);
// 18 numbers and back.
VecX Stack(const std::vector<Vec3>& x);
std::vector<Vec3> Unstack(const VecX& q);

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_CONTACT_STENCIL_CASES_H_
