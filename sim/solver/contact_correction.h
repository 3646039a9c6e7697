#ifndef EIPC_SIM_SOLVER_CONTACT_CORRECTION_H_
#define EIPC_SIM_SOLVER_CONTACT_CORRECTION_H_

#include <functional>
#include <vector>

#include "sim/base/types.h"
#include "sim/solver/met_contact.h"

namespace eipc {

// Corrects Newton's direction for the contacts that it leads into.
//
// The quadratic model at q does not see them: a contact beyond dhat is not in it at all, and one near dhat hardly, since the
// barrier's curvature begins at zero there. So the direction ends in them, collision detection or the line search cut it to the gap
// that is left, and the next one does the same. Here a few contacts p enter the model as they are, with the barrier B_p of their
// linear gap instead of its quadratic model (force lambda_p and stiffness w_p at q, zero where it does not know them):
//
//     min_d  g . d + 1/2 d . H d + sum_p [ B_p(gap_p + a_p . d) + lambda_p a_p . d - 1/2 w_p (a_p . d)^2 ].
//
// With the direction d_N = -H^-1 g of Newton and the responses z_p = H^-1 a_p by the matrix that is held, its minimum is
//
//     d = d_N + sum_p mu_p z_p,   mu_p = -B_p'(gap_p + a_p . d) - lambda_p + w_p a_p . d,
//
// as many equations as contacts. In each the left side rises and the right side falls with its own mu_p while w_p z_p . a_p < 1,
// which holds since H has at least w_p a_p a_p^T: they are solved in turns (nonlinear Gauss-Seidel). The model is convex, so its
// minimum lies in a direction of descent, but for what a_p has changed on the way from q; the caller asks. What the direction is
// not asked to know, collision detection and the line search bound as ever.
class ContactCorrection {
 public:
  // Of a direction: there are no contacts yet.
  void Begin(const VecX& direction);
  MetContacts* contacts() { return &contacts_; }
  size_t size() const { return contacts_.size(); }
  // Finds the responses of contacts that were added since the last call: `solve` replaces a right-hand side by H^-1 of it. False:
  // one was not found.
  bool Respond(const std::function<bool(VecX*)>& solve);
  // `force`: -B' of a contact at a gap, N.
  void Correct(const std::function<double(const MetContact&, double)>& force, VecX* direction);

 private:
  struct Response {
    VecX z;
    double along = 0;  // a . d_N, m
    double mu = 0;     // N
  };
  double Others(size_t i) const;

  VecX direction_;
  MetContacts contacts_;
  std::vector<Response> responses_;
  size_t known_ = 0;             // responses
  std::vector<double> opening_;  // a_i . z_j, m/N, by row
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_CONTACT_CORRECTION_H_
