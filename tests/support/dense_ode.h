#ifndef EIPC_TESTS_SUPPORT_DENSE_ODE_H_
#define EIPC_TESTS_SUPPORT_DENSE_ODE_H_

// Small ordinary differential equations with dense matrices, run by the interpreter and the table that move scenes (SchemeRun):
// what is proved of a scheme here is proved of the numbers that the product uses.

#include <Eigen/Core>
#include <deque>
#include <functional>
#include <vector>

#include "sim/dynamics/scheme.h"
#include "sim/dynamics/scheme_run.h"

namespace eipc::testing {

using MatX = Eigen::MatrixXd;

// M q'' = f(q, v), or, where `first_order`, q' = f(q, .), with M and v unused.
struct DenseProblem {
  bool first_order = false;
  MatX mass;
  std::function<VecX(const VecX& q, const VecX& v)> force;
  std::function<MatX(const VecX& q, const VecX& v)> force_by_q;
  std::function<MatX(const VecX& q, const VecX& v)> force_by_v;  // of second-order problems
};

// u' = lambda u in the plane of complex numbers.
DenseProblem Dahlquist(double real, double imaginary);
// q'' = -omega^2 q - damping q'.
DenseProblem Oscillator(double omega, double damping = 0);
// phi'' = -(g / length) sin phi, unit mass and length.
DenseProblem Pendulum(double gravity, double length);

class DenseRun {
 public:
  // The problem outlives this.
  DenseRun(const DenseProblem* problem, const Scheme& scheme, const VecX& q, const VecX& v);

  // Exact states before the start, u_{-1} first, for schemes with a history.
  void SetPast(double dt_s, const std::vector<VecX>& q, const std::vector<VecX>& v);
  void Step(double dt_s);
  const VecX& q() const { return q_; }
  const VecX& v() const { return v_; }
  int solves() const { return solves_; }
  int evaluations() const { return evaluations_; }

 private:
  struct Past {
    VecX q, v;
    double dt_s;
  };
  void Reach(const SchemePoint& point, double dt_s, VecX* q, VecX* v, VecX* force);
  VecX Force(const VecX& q, const VecX& v);

  const DenseProblem* problem_;
  Scheme scheme_;
  VecX q_, v_;
  std::deque<Past> past_;
  SchemeRun run_;
  int solves_ = 0, evaluations_ = 0;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_DENSE_ODE_H_
