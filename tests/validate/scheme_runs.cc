// Runs small equations, and an elastic rod in free flight, by the product's table of schemes and its interpreter, for ./dev
// validate papers. Reads a JSON list of requests on standard input and writes the list of results on standard output:
//
//   {"problem": {"kind": "oscillator" | "rate" | "pendulum" | "dahlquist" | "rod" | "beam" | "spectrum" | "krylov" | "modal" |
//    "table", ...}, "scheme": "VERLET", "alpha": 0.5, "h": 0.1, "steps": 100, "every": 1, "q": 1, "v": 0, "past": [[q, v], ...]}
//
// A rod's result has momenta about the mass centre and energies every `every` steps; the others have q and v there.

#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/dynamics/integrators.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/energy/elasticity.h"
#include "sim/sensor/energies.h"
#include "sim/solver/newton_system.h"
#include "tests/support/dense_ode.h"
#include "tests/support/modal_schemes.h"
#include "tests/support/scenes.h"
#include "tests/validate/krylov_runs.h"

namespace eipc {
namespace {

using Json = nlohmann::json;
using testing::DenseProblem;
using testing::DenseRun;
using testing::MatX;
using testing::SparseMat;

Scheme SchemeOf(const Json& request) {
  const std::string name = request.at("scheme");
  for (const Scheme& scheme : AllSchemes()) {
    if (scheme.name == name) return MakeScheme(scheme.kind, request.value("alpha", 0.5));
  }
  throw std::invalid_argument("no scheme is named " + name);
}

VecX Of(double value) { return VecX::Constant(1, value); }

// y'' = -stiffness (y - rest) - damping y', y' = rate y, or a pendulum of unit mass.
DenseProblem ProblemOf(const Json& problem) {
  const std::string kind = problem.at("kind");
  if (kind == "pendulum") return testing::Pendulum(problem.at("gravity"), problem.at("length"));
  if (kind == "rate") {
    const double rate = problem.at("rate");
    return {.first_order = true,
            .mass = {},
            .force = [=](const VecX& q, const VecX&) { return VecX(rate * q); },
            .force_by_q = [=](const VecX&, const VecX&) { return MatX::Constant(1, 1, rate); },
            .force_by_v = {}};
  }
  const double stiffness = problem.at("stiffness"), damping = problem.value("damping", 0.0), rest = problem.value("rest", 0.0);
  return {.first_order = false,
          .mass = MatX::Identity(1, 1),
          .force = [=](const VecX& q, const VecX& v) { return VecX(-stiffness * (q - Of(rest)) - damping * v); },
          .force_by_q = [=](const VecX&, const VecX&) { return MatX::Constant(1, 1, -stiffness); },
          .force_by_v = [=](const VecX&, const VecX&) { return MatX::Constant(1, 1, -damping); }};
}

// u' = (real + i imaginary) u over one step from 1, for each of the values.
Json RunDahlquist(const Json& request) {
  Json out = Json::array();
  for (const Json& value : request.at("problem").at("values")) {
    const DenseProblem problem = testing::Dahlquist(value.at(0), value.at(1));
    DenseRun run(&problem, SchemeOf(request), VecX::Unit(2, 0), VecX::Zero(2));
    run.Step(1);
    out.push_back({run.q()[0], run.q()[1]});
  }
  return {{"factors", out}};
}

Json Table() {
  Json out = Json::object();
  for (const Scheme& scheme : AllSchemes()) {
    Json rows = Json::array();
    for (int i = 0; i < scheme.row_count; ++i) {
      const SchemeRow& row = scheme.rows[i];
      rows.push_back(
          {{"a", row.a}, {"b", row.b}, {"past", row.from.past}, {"speeds", row.from.speeds}, {"forces", row.from.forces}});
    }
    out[std::string(scheme.name)] = {{"order", scheme.order},
                                     {"rows", rows},
                                     {"end", scheme.end.speeds},
                                     {"reference_only", std::string(scheme.reference_only)}};
  }
  return out;
}

// States before the start, the latest first, as [q, v].
void SetPast(const Json& request, DenseRun* run) {
  if (!request.contains("past")) return;
  std::vector<VecX> q, v;
  for (const Json& state : request.at("past")) {
    q.push_back(Of(state.at(0)));
    v.push_back(Of(state.at(1)));
  }
  run->SetPast(request.at("h"), q, v);
}

Json RunDense(const Json& request) {
  const DenseProblem problem = ProblemOf(request.at("problem"));
  DenseRun run(&problem, SchemeOf(request), Of(request.at("q")), Of(request.value("v", 0.0)));
  SetPast(request, &run);
  const int64_t steps = request.at("steps"), every = request.value("every", int64_t{1});
  Json q = {run.q()[0]}, v = {run.v()[0]};
  for (int64_t n = 1; n <= steps; ++n) {
    run.Step(request.at("h"));
    if (n % every != 0 && n != steps) continue;
    q.push_back(run.q()[0]);
    v.push_back(run.v()[0]);
  }
  return {{"q", q}, {"v", v}, {"solves", run.solves()}, {"evaluations", run.evaluations()}};
}

// cells[0] x cells[1] x cells[2] cubes of five tetrahedra, mirrored from one to the next so that they fit.
MeshData FiveTetGrid(const std::array<int, 3>& cells, double side) {
  MeshData mesh = testing::BoxTetGrid(Vec3::Zero(), side * Vec3(cells[0], cells[1], cells[2]), cells);
  mesh.tets.clear();
  const auto node = [&](int i, int j, int k) { return i + (cells[0] + 1) * (j + (cells[1] + 1) * k); };
  for (int k = 0; k < cells[2]; ++k) {
    for (int j = 0; j < cells[1]; ++j) {
      for (int i = 0; i < cells[0]; ++i) {
        const bool mirrored = (i + j + k) % 2 != 0;
        const auto at = [&](int x, int y, int z) { return node(i + (mirrored ? 1 - x : x), j + y, k + z); };
        for (const Tet& t :
             {Tet{at(0, 0, 0), at(1, 0, 0), at(0, 1, 0), at(0, 0, 1)}, Tet{at(1, 1, 0), at(0, 1, 0), at(1, 0, 0), at(1, 1, 1)},
              Tet{at(1, 0, 1), at(0, 0, 1), at(1, 1, 1), at(1, 0, 0)}, Tet{at(0, 1, 1), at(1, 1, 1), at(0, 0, 1), at(0, 1, 0)},
              Tet{at(1, 0, 0), at(0, 1, 0), at(0, 0, 1), at(1, 1, 1)}}) {
          mesh.tets.push_back(mirrored ? Tet{t[0], t[2], t[1], t[3]} : t);
        }
      }
    }
  }
  return mesh;
}

// Spun, stretched and let go, with its mass centre at rest.
State RodStart(const Model& model, State state) {
  Vec3 centre = Vec3::Zero();
  for (int32_t n = 0; n < model.node_count; ++n) centre += state.q.segment<3>(3 * n) / model.node_count;
  for (int32_t n = 0; n < model.node_count; ++n) {
    const Vec3 r = state.q.segment<3>(3 * n) - centre;
    state.v.segment<3>(3 * n) = Vec3(0.3, 0.5, 2).cross(r) + 0.5 * r.x() * Vec3::UnitX() + 0.4 * r.x() * r.x() * Vec3::UnitZ();
    state.q.segment<3>(3 * n) += 0.1 * r.x() * Vec3::UnitX();
  }
  double mass = 0;
  Vec3 momentum = Vec3::Zero();
  for (int32_t n = 0; n < model.node_count; ++n) {
    momentum += model.mass.RowTimes(n, state.v);
    for (int32_t k = model.mass.row_start[n]; k < model.mass.row_start[n + 1]; ++k) mass += model.mass.values[k];
  }
  for (int32_t n = 0; n < model.node_count; ++n) state.v.segment<3>(3 * n) -= momentum / mass;
  return state;
}

Json ToJson(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

// The free nodes of a scene without contact as a small system: forces and stiffness are the product's terms, in sparse matrices.
class SceneAsElastic {
 public:
  explicit SceneAsElastic(const Model* model)
      : model_(model),
        pool_(1),
        problem_(model, &pool_, &seconds_),
        system_(SolverSettings{.linear_solver = LinearSolverKind::kCholesky}, &pool_, nullptr) {
    std::vector<uint8_t> fixed(model->node_count, 0);
    for (const BoundarySet& set : model->boundary_sets) {
      for (const int32_t n : set.nodes) fixed[n] = 1;
    }
    for (int32_t n = 0; n < model->node_count; ++n) {
      if (!fixed[n]) free_.push_back(n);
    }
    start_ = InitialState(*model).q;
    zero_ = VecX::Zero(start_.size());
    problem_.BeginStep(start_, start_, 1, {});
    problem_.BeginStage(start_, start_, zero_, 1);
  }

  VecX FreePart(const VecX& q) const {
    VecX out(3 * free_.size());
    for (size_t i = 0; i < free_.size(); ++i) out.segment<3>(3 * i) = q.segment<3>(3 * free_[i]);
    return out;
  }
  VecX Whole(const VecX& q) const {
    VecX out = start_;
    for (size_t i = 0; i < free_.size(); ++i) out.segment<3>(3 * free_[i]) = q.segment<3>(3 * i);
    return out;
  }
  VecX Force(const VecX& q) {
    problem_.SetPoint(Whole(q));
    VecX force;
    problem_.Forces(&force);
    return FreePart(force);
  }
  SparseMat Stiffness(const VecX& q) {
    problem_.SetPoint(Whole(q));
    system_.Assemble(&problem_);
    return Sparse(system_.hessian()) - Mass();
  }
  // v . (d2 V / dq2) v, of forces on both sides: exact but for their third derivatives.
  double Curvature(const VecX& q, const VecX& v) {
    constexpr double kStep = 1e-6;  // s
    return v.dot(Force(q - kStep * v) - Force(q + kStep * v)) / (2 * kStep);
  }
  // F . M^-1 F.
  double Power(const VecX& force) {
    if (mass_solver_.rows() == 0) mass_solver_.compute(Mass());
    return force.dot(mass_solver_.solve(force));
  }
  const SparseMat& Mass() {
    if (mass_.size() > 0) return mass_;
    const auto index = Index();
    std::vector<Eigen::Triplet<double>> entries;
    for (const int32_t n : free_) {
      for (int32_t k = model_->mass.row_start[n]; k < model_->mass.row_start[n + 1]; ++k) {
        const int32_t m = index[model_->mass.columns[k]];
        for (int a = 0; m >= 0 && a < 3; ++a) entries.emplace_back(3 * index[n] + a, 3 * m + a, model_->mass.values[k]);
      }
    }
    mass_ = FromEntries(entries);
    return mass_;
  }

 private:
  std::vector<int32_t> Index() const {
    std::vector<int32_t> index(model_->node_count, -1);
    for (size_t i = 0; i < free_.size(); ++i) index[free_[i]] = static_cast<int32_t>(i);
    return index;
  }
  SparseMat FromEntries(const std::vector<Eigen::Triplet<double>>& entries) const {
    SparseMat out(3 * free_.size(), 3 * free_.size());
    out.setFromTriplets(entries.begin(), entries.end());
    return out;
  }
  // The blocks on and below the diagonal are stored.
  SparseMat Sparse(const BlockMatrix& h) const {
    const auto index = Index();
    std::vector<Eigen::Triplet<double>> entries;
    for (int32_t column = 0; column < h.nodes(); ++column) {
      for (int32_t k = h.column_start()[column]; k < h.column_start()[column + 1]; ++k) {
        const int32_t i = index[h.rows()[k]], j = index[column];
        if (i < 0 || j < 0) continue;
        const Mat3 block = Eigen::Map<const Mat3>(h.values().data() + 9 * k);
        for (int a = 0; a < 3; ++a) {
          for (int b = 0; b < 3; ++b) {
            entries.emplace_back(3 * i + a, 3 * j + b, block(a, b));
            if (i != j) entries.emplace_back(3 * j + b, 3 * i + a, block(a, b));
          }
        }
      }
    }
    return FromEntries(entries);
  }

  const Model* model_;
  ThreadPool pool_;
  PhaseSeconds seconds_ = {};
  StageProblem problem_;
  NewtonSystem system_;
  std::vector<int32_t> free_;
  VecX start_, zero_;
  SparseMat mass_;
  Eigen::SimplicialLDLT<SparseMat> mass_solver_;
};

Json RunRod(const Json& request) {
  const Json& rod = request.at("problem");
  SceneSpec scene = testing::EmptyScene();
  scene.self_contact = false;
  scene.dynamics.integrator = SchemeOf(request).kind;
  scene.dynamics.variational_alpha = request.value("alpha", 0.5);
  scene.bodies = {
      testing::FullSpaceBox("rod", Vec3(0.8, 0.2, 0.2), {8, 2, 2},
                            testing::SoftMaterial(1000, rod.at("youngs_modulus_pa"), 0.3, &StableNeoHookean::kDescriptor))};
  scene.bodies[0].mesh = FiveTetGrid({8, 2, 2}, 0.1);
  scene.bodies[0].material.strain_damping_s = rod.value("strain_damping_s", 0.0);
  if (rod.value("strain_energy", false)) scene.bodies[0].material.strain_damping_law = StrainDampingLaw::kStrainEnergy;
  const auto model = testing::Compile(scene);
  World world(model);
  if (!world.Restore(RodStart(*model, world.state())).ok()) throw std::runtime_error("the rod's start does not fit");
  const int64_t steps = request.at("steps"), every = request.value("every", int64_t{1});
  SceneAsElastic elastic(model.get());
  Json out = {{"tets", model->elastic[0].nodes.size()}, {"nodes", model->node_count}};
  int64_t breaks = 0;
  for (int64_t n = 0; n <= steps; ++n) {
    if (n > 0) {
      if (testing::RunSteps(&world, 1, request.at("h")) != 0) throw std::runtime_error("a step of the rod did not converge");
      for (int StructureBreaks::*cause : StructureBreaks::kCauses) breaks += world.report().structure_breaks.*cause;
    }
    if (n % every != 0) continue;
    std::vector<Vec3> x;
    world.SurfacePositions(&x);
    const Energies energies = ComputeEnergies(world, x);
    out["energy"].push_back(energies.kinetic_j + energies.elastic_j);
    out["elastic"].push_back(energies.elastic_j);
    // What alpha = 0 keeps (symplectic Euler; Hairer et al. 2006, IX.3), to the second order in h.
    const double h = request.at("h");
    const VecX &q = world.state().q, &v = world.state().v, force = elastic.Force(q);
    out["modified_second"].push_back(energies.kinetic_j + energies.elastic_j + 0.5 * h * v.dot(force) +
                                     h * h / 12 * (elastic.Curvature(q, v) + elastic.Power(force)));
    out["momentum"].push_back(ToJson(testing::LinearMomentum(*model, world.state(), 0)));
    out["angular"].push_back(ToJson(testing::AngularMomentum(*model, world.state(), 0)));
  }
  out["structure_breaks"] = breaks;
  out["angle2"] = world.state().stability ? Json(world.state().stability->angle2) : Json(nullptr);
  return out;
}

// A beam of 32 x 4 x 4 cubes of five tetrahedra, held at both ends.
SceneSpec BeamScene(double youngs_modulus_pa = 1e5, double gravity_m_s2 = 9.81) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -gravity_m_s2);
  scene.self_contact = false;
  scene.solver.newton_tolerance_m_s = 1e-5;
  scene.bodies = {testing::FullSpaceBox("beam", Vec3(1.6, 0.2, 0.2), {32, 4, 4},
                                        testing::SoftMaterial(1000, youngs_modulus_pa, 0.4, &StableNeoHookean::kDescriptor))};
  scene.bodies[0].mesh = FiveTetGrid({32, 4, 4}, 0.05);
  for (const double end : {0.0, 1.6}) {
    BoundarySetSpec set;
    set.name = end == 0 ? "left" : "right";
    set.box = SelectionBox{Vec3(end - 1e-6, -1, -1), Vec3(end + 1e-6, 1, 1)};
    scene.bodies[0].boundary_sets.push_back(set);
  }
  return scene;
}

// The eigenvalues of K x = lambda M x at rest, ascending, and the largest |K x - lambda M x| / |K x| among the first thousand.
Json RunSpectrum() {
  const auto model = testing::Compile(BeamScene());
  SceneAsElastic beam(model.get());
  const VecX q = beam.FreePart(InitialState(*model).q);
  const SparseMat stiffness = beam.Stiffness(q);
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> solver(MatX(stiffness), MatX(beam.Mass()));
  double residual = 0;
  for (int j = 0; j < std::min<int>(1000, static_cast<int>(q.size())); ++j) {
    const VecX image = stiffness * solver.eigenvectors().col(j);
    residual =
        std::max(residual, (image - solver.eigenvalues()[j] * (beam.Mass() * solver.eigenvectors().col(j))).norm() / image.norm());
  }
  const VecX& values = solver.eigenvalues();
  return {{"values", std::vector<double>(values.data(), values.data() + values.size())}, {"residual", residual}};
}

// It sags from rest under gravity: its elastic energy over time. Schemes of the table move the scene itself; modal ones its free
// nodes as a small system, with the first `modes` modes of rest, and say how many linear systems they solved.
Json RunBeam(const Json& request) {
  const std::string name = request.at("scheme");
  const Json& problem = request.at("problem");
  SceneSpec scene = BeamScene(problem.value("youngs_modulus_pa", 1e5), problem.value("gravity_m_s2", 9.81));
  const int64_t steps = request.at("steps");
  Json elastic = Json::array(), out;
  const auto stored = [&](const Model& model, const VecX& q) {
    elastic.push_back(ElasticityTerm::StoredEnergy(model.elastic[0], q));
  };
  bool modal = false;
  for (const testing::ModalScheme& scheme : testing::ModalSchemes()) modal = modal || scheme.name == name;
  if (!modal) {
    scene.dynamics.integrator = SchemeOf(request).kind;
    World world(testing::Compile(scene));
    for (int64_t n = 0; n < steps; ++n) {
      testing::RunSteps(&world, 1, request.at("h"));
      stored(world.model(), world.state().q);
    }
    out["tets"] = world.model().elastic[0].nodes.size();
  } else {
    const auto model = testing::Compile(scene);
    SceneAsElastic beam(model.get());
    const VecX q = beam.FreePart(InitialState(*model).q);
    const testing::ElasticProblem sag = {.mass = beam.Mass(),
                                         .gradient = [&](const VecX& y) { return VecX(sag.rest - beam.Force(y)); },
                                         .stiffness = [&](const VecX& y) { return beam.Stiffness(y); },
                                         .rest = beam.Force(q)};  // at rest elasticity exerts nothing: this is the weight
    const MatX basis = testing::LowestModes(beam.Stiffness(q), beam.Mass(), request.at("modes"));
    testing::ModalRun run(&sag, &testing::ModalSchemeNamed(name), basis, q, VecX::Zero(q.size()));
    for (int64_t n = 0; n < steps; ++n) {
      run.Step(request.at("h"));
      stored(*model, beam.Whole(run.q()));
    }
    out["solves"] = run.solves();
    out["tets"] = model->elastic[0].nodes.size();
  }
  out["elastic"] = elastic;
  return out;
}

// q'' = -q under a modal scheme that takes this mode apart, or another one (q'' = -4 q, at rest).
Json RunModal(const Json& request) {
  const testing::ModalScheme& scheme = testing::ModalSchemeNamed(request.at("scheme"));
  const Eigen::Vector2d stiffness(1, 4);
  const testing::ElasticProblem problem = {
      .mass = MatX(MatX::Identity(2, 2)).sparseView(),
      .gradient = [=](const VecX& q) { return VecX(q.cwiseProduct(stiffness)); },
      .stiffness = [=](const VecX&) { return SparseMat(MatX(stiffness.asDiagonal()).sparseView()); },
      .rest = VecX::Zero(2)};
  const MatX both = MatX::Identity(2, 2);
  const bool taken = request.at("problem").at("taken");
  const auto first = [](double value) { return VecX(Eigen::Vector2d(value, 0)); };
  testing::ModalRun run(&problem, &scheme, scheme.all_modes ? both : MatX(both.col(taken ? 0 : 1)), first(request.at("q")),
                        first(request.at("v")));
  const double h = request.at("h");
  for (const Json& past : request.value("past", Json::array())) run.SetPast(h, first(past.at(0)), first(past.at(1)));
  const int64_t steps = request.at("steps");
  for (int64_t n = 1; n <= steps; ++n) run.Step(h);
  return {{"q", {run.q()[0]}}, {"v", {run.v()[0]}}};
}

}  // namespace
}  // namespace eipc

int main() {
  try {
    nlohmann::json results = nlohmann::json::array();
    for (const auto& request : nlohmann::json::parse(std::cin)) {
      const std::string kind = request.at("problem").at("kind");
      if (kind == "table") {
        results.push_back(eipc::Table());
      } else if (kind == "dahlquist") {
        results.push_back(eipc::RunDahlquist(request));
      } else if (kind == "modal") {
        results.push_back(eipc::RunModal(request));
      } else if (kind == "spectrum") {
        results.push_back(eipc::RunSpectrum());
      } else if (kind == "krylov") {
        results.push_back(eipc::RunKrylov(request));
      } else if (kind == "beam") {
        results.push_back(eipc::RunBeam(request));
      } else {
        results.push_back(kind == "rod" ? eipc::RunRod(request) : eipc::RunDense(request));
      }
    }
    std::cout << results << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "scheme_runs: " << error.what() << '\n';
    return 1;
  }
}
