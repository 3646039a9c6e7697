#include "tests/validate/krylov_runs.h"

#include <array>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <vector>

#include "sim/dynamics/stage_problem.h"
#include "sim/linalg/conjugate_gradient.h"
#include "sim/solver/newton_system.h"
#include "tests/support/random.h"
#include "tests/support/scenes.h"
#include "tests/support/ssor.h"

namespace eipc {
namespace {

using Json = nlohmann::json;

SceneSpec BoxScene(const Json& problem) {
  SceneSpec scene = testing::EmptyScene();
  scene.self_contact = false;
  const auto size = problem.at("size").get<std::array<double, 3>>();
  const auto cells = problem.at("cells").get<std::array<int, 3>>();
  scene.bodies = {testing::FullSpaceBox("box", Vec3(size[0], size[1], size[2]), cells,
                                        testing::SoftMaterial(1000, problem.at("youngs_modulus_pa"), 0.4))};
  if (problem.value("held", false)) {
    BoundarySetSpec set;
    set.name = "end";
    set.box = SelectionBox{Vec3(-1, -1, 0.5 * size[2] - 1e-6), Vec3(1, 1, 1)};
    scene.bodies[0].boundary_sets.push_back(set);
  }
  return scene;
}

struct System {
  const BlockMatrix* matrix;
  std::vector<uint8_t> fixed;

  void ZeroFixed(VecX* x) const {
    for (size_t n = 0; n < fixed.size(); ++n) {
      if (fixed[n]) x->segment<3>(3 * n).setZero();
    }
  }
};

double Milliseconds(std::clock_t from) { return 1e3 * static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC; }

Json SolveOnce(const System& system, Preconditioner* preconditioner, const VecX& b, double tolerance) {
  constexpr int kMost = 5000;
  const std::clock_t start = std::clock();
  if (!preconditioner->Prepare(*system.matrix, system.fixed)) throw std::runtime_error("the matrix is not positive definite");
  const double prepare_ms = Milliseconds(start);
  VecX x;
  const ConjugateGradient::Result result = ConjugateGradient().Solve(
      [&](const VecX& in, VecX* out) {
        system.matrix->Multiply(in, out);
        system.ZeroFixed(out);
      },
      [&](const VecX& in, VecX* out) { preconditioner->Apply(in, out); }, b, tolerance, kMost, &x);
  if (!result.converged) throw std::runtime_error("conjugate gradients did not converge");
  return {{"iterations", result.iterations}, {"prepare_ms", prepare_ms}, {"ms", Milliseconds(start)}};
}

// Processor time is the least of a few runs.
Json Solve(const System& system, Preconditioner* preconditioner, const VecX& b, double tolerance) {
  constexpr int kRuns = 3;
  Json best = SolveOnce(system, preconditioner, b, tolerance);
  for (int run = 1; run < kRuns; ++run) {
    const Json one = SolveOnce(system, preconditioner, b, tolerance);
    if (one.at("ms") < best.at("ms")) best = one;
  }
  return best;
}

}  // namespace

Json RunKrylov(const Json& request) {
  const Json& problem = request.at("problem");
  const auto model = testing::Compile(BoxScene(problem));
  ThreadPool pool(1);
  PhaseSeconds seconds = {};
  StageProblem stage(model.get(), &pool, &seconds);
  NewtonSystem newton(SolverSettings{.linear_solver = LinearSolverKind::kCholesky}, &pool, nullptr);
  const VecX start = InitialState(*model).q, zero = VecX::Zero(start.size());
  stage.BeginStep(start, start, 1, {});
  stage.BeginStage(start, start, zero, request.at("h"));
  stage.SetPoint(start);
  newton.Assemble(&stage);
  System system = {&newton.hessian(), std::vector<uint8_t>(model->node_count, 0)};
  for (const BoundarySet& set : model->boundary_sets) {
    for (const int32_t n : set.nodes) system.fixed[n] = 1;
  }
  testing::Random random(1);
  VecX b = random.Vector(static_cast<int>(start.size()), 1);
  system.ZeroFixed(&b);
  const double tolerance = problem.at("tolerance");
  Json out = {{"unknowns", start.size()}};
  const std::pair<const char*, PreconditionerKind> kinds[] = {{"diagonal", PreconditionerKind::kDiagonal},
                                                              {"block", PreconditionerKind::kBlock},
                                                              {"incomplete_cholesky", PreconditionerKind::kIncompleteCholesky}};
  for (const auto& [name, kind] : kinds) out[name] = Solve(system, MakePreconditioner(kind).get(), b, tolerance);
  for (const double omega : problem.at("omegas")) {
    testing::Ssor ssor(omega);
    out["ssor"].push_back(Solve(system, &ssor, b, tolerance));
  }
  return out;
}

}  // namespace eipc
