#ifndef EIPC_TESTS_SIM_SOLVER_DENSE_PROBLEM_H_
#define EIPC_TESTS_SIM_SOLVER_DENSE_PROBLEM_H_

#include <functional>
#include <utility>
#include <vector>

#include "sim/solver/newton.h"
#include "tests/support/finite_difference.h"
#include "tests/support/random.h"

namespace eipc::testing {

// A dense potential of a few nodes, with a step limit that a test sets.
class DenseProblem : public NewtonProblem {
 public:
  explicit DenseProblem(int nodes) : nodes_(nodes) {}

  std::function<double(const VecX&)> energy;
  std::function<VecX(const VecX&)> gradient;
  std::function<MatX(const VecX&)> hessian;
  std::function<double(const VecX& q, const VecX& dq)> max_step = [](const VecX&, const VecX&) { return 1.0; };

  void SetPoint(const VecX& q) override { q_ = q; }
  double Energy() override { return energy(q_); }
  void Gradient(VecX* g) override { *g += gradient(q_); }
  bool Hessian(BlockMatrix* h) override {
    const bool first = h->nodes() != nodes_;
    if (first) {
      std::vector<std::pair<int32_t, int32_t>> pairs;
      for (int a = 0; a < nodes_; ++a) {
        for (int b = 0; b < a; ++b) pairs.emplace_back(a, b);
      }
      h->SetPattern(nodes_, &pairs);
    }
    h->SetZero();
    const MatX dense = hessian(q_);
    for (int a = 0; a < nodes_; ++a) {
      for (int b = 0; b <= a; ++b) h->Add(a, b, dense.block<3, 3>(3 * a, 3 * b));
    }
    return first;
  }
  void ChangingNodes(std::vector<uint8_t>* changing) const override { changing->assign(nodes_, 0); }
  double MaxStep(const VecX& dq) override { return max_step(q_, dq); }
  const VecX& point() const { return q_; }

 private:
  int nodes_;
  VecX q_;
};

// ½ (q - centre)^T K (q - centre), K positive definite and full.
struct Quadratic {
  Quadratic(int nodes, Random* random) : problem(nodes), centre(random->Vector(3 * nodes, 1)) {
    const MatX half = [&] {
      MatX m(3 * nodes, 3 * nodes);
      for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = random->Uniform(-1, 1);
      return m;
    }();
    k = half * half.transpose() + MatX::Identity(3 * nodes, 3 * nodes);
    problem.energy = [this](const VecX& q) { return 0.5 * (q - centre).dot(k * (q - centre)); };
    problem.gradient = [this](const VecX& q) { return VecX(k * (q - centre)); };
    problem.hessian = [this](const VecX&) { return k; };
  }
  DenseProblem problem;
  VecX centre;
  MatX k;
};

inline SolverSettings Settings(double tolerance, int iterations) {
  SolverSettings settings;
  settings.newton_tolerance_m_s = tolerance;
  settings.max_newton_iterations = iterations;
  return settings;
}

struct Solution {
  absl::Status status;
  VecX q;
  NewtonReport report;
  PhaseSeconds seconds = {};
};

inline Solution Solve(NewtonProblem* problem, const VecX& start, const SolverSettings& settings, const std::vector<uint8_t>& fixed,
                      Interrupt* interrupt = nullptr, double velocity_scale = 1, TimeLimit* time_limit = nullptr) {
  Solution run;
  run.q = start;
  NewtonSystem system(settings, nullptr, interrupt);
  NewtonSolver solver(settings, &system, interrupt);
  const SolveContext context = {fixed, velocity_scale, settings.max_newton_iterations, &run.seconds, time_limit};
  run.status = solver.Solve(problem, context, &run.q, &run.report);
  return run;
}

// A curved potential.
struct Quartic : Quadratic {
  Quartic(int nodes, Random* random) : Quadratic(nodes, random) {
    problem.energy = [this](const VecX& q) {
      const VecX e = q - centre;
      return 0.5 * e.dot(k * e) + 0.25 * e.array().pow(4).sum();
    };
    problem.gradient = [this](const VecX& q) {
      const VecX e = q - centre;
      return VecX(k * e + VecX(e.array().cube()));
    };
    problem.hessian = [this](const VecX& q) {
      MatX h = k;
      h.diagonal() += VecX(3 * (q - centre).array().square());
      return h;
    };
  }
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_SOLVER_DENSE_PROBLEM_H_
