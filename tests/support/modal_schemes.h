#ifndef EIPC_TESTS_SUPPORT_MODAL_SCHEMES_H_
#define EIPC_TESTS_SUPPORT_MODAL_SCHEMES_H_

// Exponential and additive methods (Ascher et al. 2022, eqs. 6, 16 to 26) as decorations of rows of the table of schemes: the first
// s modes X (M-orthonormal) go by the exponential of their own equations, the rest by the row, whose elasticity acts at z = P y + X
// Q*, P = I - X X^T M. Scenes do not have them; a scene's elastic body without contact can be run as such a system.

#include <Eigen/Core>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/dynamics/scheme.h"
#include "sim/dynamics/scheme_run.h"
#include "tests/support/dense_ode.h"

namespace eipc::testing {

// How the increment of the modes follows from E(k) = k phi_1(k J) g + k^2 phi_2(k J) c at the state that a row starts from:
// E(k); E(k) less what the row has taken of F_0; E(k) + E(-k) / 3, which is exact for an oscillation.
enum class ModalRule { kNone, kBackwardEuler, kTrapezoidal, kBdf2, kBdf2AsPrinted };

struct ModalRow {
  ModalRule rule = ModalRule::kNone;
  double span = 1;    // k over h
  bool semi = false;  // elasticity by its quadratic model at the row's start: one linear solve
};

struct ModalScheme {
  std::string name;
  Scheme base;
  ModalRow rows[kMaxRows];
  int order = 1;
  bool all_modes = false;  // the basis is to be whole
};

// SI, ERE, SIERE, BEERE, SBDF2ERE, STR_SBDF2ERE; then the two whose printed form is of first order, as printed.
const std::vector<ModalScheme>& ModalSchemes();
const ModalScheme& ModalSchemeNamed(const std::string& name);

using SparseMat = Eigen::SparseMatrix<double>;

// M q'' = -grad Psi(q) + rest, `rest` constant.
struct ElasticProblem {
  SparseMat mass;
  std::function<VecX(const VecX& q)> gradient;
  std::function<SparseMat(const VecX& q)> stiffness;
  VecX rest;
};

// The s eigenvectors of K x = lambda M x of the lowest lambda, M-orthonormal; K is positive definite.
MatX LowestModes(const SparseMat& stiffness, const SparseMat& mass, int s);

class ModalRun {
 public:
  // References outlive this. `basis`: X; no columns: none.
  ModalRun(const ElasticProblem* problem, const ModalScheme* scheme, MatX basis, const VecX& q, const VecX& v);
  // The state one step before the start, for schemes with a history, which otherwise begin by a step of backward Euler.
  void SetPast(double dt_s, const VecX& q, const VecX& v) { past_ = Past{q, v, dt_s}; }
  void Step(double dt_s);
  const VecX& q() const { return q_; }
  const VecX& v() const { return v_; }
  int solves() const { return solves_; }

 private:
  VecX Force(const VecX& q) const { return problem_->rest - problem_->gradient(q); }
  // E(k) at a state, positions then velocities.
  VecX Increment(const VecX& q, const VecX& v, double k) const;
  VecX RowIncrement(const ModalRow& row, const VecX& q, const VecX& v, double dt_s) const;
  void Reach(const SchemePoint& point, const ModalRow& modal, const VecX& q_start, const VecX& v_start, double dt_s, VecX* q,
             VecX* v);

  const ElasticProblem* problem_;
  const ModalScheme* scheme_;
  MatX basis_, mass_basis_;  // X, M X
  Eigen::SimplicialLDLT<SparseMat> mass_factor_;
  VecX q_, v_;
  struct Past {
    VecX q, v;
    double dt_s;
  };
  std::optional<Past> past_;
  SchemeRun run_;
  int solves_ = 0;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_MODAL_SCHEMES_H_
