#include "sim/scene/compile_scene.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/audit/audit.h"
#include "sim/base/status_macros.h"
#include "sim/collision/interruptible_surface.h"
#include "sim/dynamics/state_codec.h"
#include "sim/linalg/solve_cost.h"
#include "sim/scene/check_numbers.h"
#include "sim/scene/check_scene.h"
#include "sim/scene/coarse_space.h"
#include "sim/scene/compile_body.h"
#include "sim/scene/compile_joints.h"
#include "sim/scene/filled_regions.h"
#include "sim/scene/pair_overrides.h"
#include "sim/scene/pose_drives.h"
#include "sim/scene/settle.h"
#include "sim/scene/shells.h"
#include "sim/scene/sliders.h"
#include "sim/scene/vertex_sets.h"
#include "sim/solver/linear_solvers.h"

namespace eipc {
namespace {

// Of a body with elements. A calibrated cage, and a condensed one, has the stiffness of one Poisson's ratio.
SceneMaterial SceneMaterialOf(const BodySpec& spec, const CompiledBody& compiled) {
  SceneMaterial material = {spec.material, compiled.material, compiled.calibration || compiled.elastic.condensed != nullptr};
  if (spec.inertia) material.given.density_kg_m3 = 0;
  return material;
}

// Appends one body to the stacked model.
void AppendBody(const BodySpec& spec, CompiledBody compiled, std::vector<ScalarSparse::Entry>* mass, Model* model) {
  Body body;
  body.name = spec.name;
  body.kind = std::string(RowOf(spec.kind).name);
  body.traits = RowOf(spec.kind).traits;
  body.mass = compiled.mass;
  body.initial_pose = compiled.initial_pose;
  body.mesh_frame = compiled.initial_pose.Inverse() * spec.pose;
  body.external_force = spec.external_force;
  const int32_t first_node = model->node_count;
  const int32_t first_vertex = static_cast<int32_t>(model->embedding.size());
  model->node_count += static_cast<int32_t>(compiled.node_positions.size());
  body.nodes = {first_node, model->node_count};
  for (const Vec3& p : compiled.node_positions) {
    model->initial_positions.push_back(p);
    model->initial_velocities.push_back(spec.linear_velocity + spec.angular_velocity.cross(p - body.initial_pose.position));
  }
  for (ScalarSparse::Entry entry : compiled.mass_entries)
    mass->push_back({entry.row + first_node, entry.column + first_node, entry.value});
  for (size_t v = 0; v < compiled.embedding.size(); ++v) {
    EmbeddingRow row = compiled.embedding[v];
    for (int k = 0; k < row.count; ++k) row.nodes[k] += first_node;
    model->embedding.push_back(row);
    model->surface_offset.push_back(row.count == 0 ? compiled.surface_positions[v] : Vec3::Zero());
  }
  body.vertices = {first_vertex, static_cast<int32_t>(model->embedding.size())};
  int32_t tets = 0;
  for (const Body& other : model->bodies) tets = std::max(tets, other.tets.end);
  body.tets = {tets, tets + static_cast<int32_t>(compiled.elastic.nodes.size())};
  if (!compiled.elastic.nodes.empty()) {
    body.scene_material = SceneMaterialOf(spec, compiled);
    for (Tet& tet : compiled.elastic.nodes) {
      for (int32_t& node : tet) node += first_node;
    }
    model->elastic.push_back(std::move(compiled.elastic));
  }
  const int32_t triangles = model->bodies.empty() ? 0 : model->bodies.back().triangles.end;
  body.triangles = {triangles, triangles + static_cast<int32_t>(compiled.triangles.size())};
  model->bodies.push_back(std::move(body));
}

// False: a problem was added.
bool AddBoundarySet(const BoundarySetSpec& spec, const SelectableMesh& mesh, const std::string& path, Model* model,
                    Problems* problems) {
  const int32_t first = model->bodies[mesh.body].nodes.begin;
  BoundarySet set;
  set.name = spec.name;
  set.body = mesh.body;
  set.trajectory = spec.trajectory;
  set.initial_pose = spec.frame.value_or(mesh.pose);
  set.nodes = SelectNodes(spec.vertices, spec.box, mesh, *model, path, problems);
  if (set.nodes.empty()) return false;
  for (const BoundarySet& other : model->boundary_sets) {
    if (other.body != mesh.body) continue;
    for (int32_t node : set.nodes) {
      if (std::binary_search(other.nodes.begin(), other.nodes.end(), node)) {
        const auto vertex = std::find(mesh.node_of_vertex.begin(), mesh.node_of_vertex.end(), node - first);
        problems->Add(path, "vertex ", vertex - mesh.node_of_vertex.begin(), " is already driven by \"", other.name, "\"");
        return false;
      }
    }
  }
  for (int32_t node : set.nodes) set.local_positions.push_back(set.initial_pose.Inverse().Apply(model->initial_positions[node]));
  model->boundary_sets.push_back(std::move(set));
  return true;
}

// The set of all nodes of a body that a frame moves, or a slider or pose drive.
void AddWholeBody(const BodySpec& body, int32_t body_index, Model* model) {
  BoundarySet set;
  set.body = body_index;
  set.trajectory = body.trajectory;
  set.initial_pose = body.pose;
  for (int32_t node = model->bodies[body_index].nodes.begin; node < model->bodies[body_index].nodes.end; ++node) {
    set.nodes.push_back(node);
    set.local_positions.push_back(body.pose.Inverse().Apply(model->initial_positions[node]));
  }
  model->boundary_sets.push_back(std::move(set));
}

// What frames, sliders and pose drives move of a body.
void AddDriven(const BodySpec& body, const SelectableMesh& mesh, const std::string& path, Model* model,
               std::vector<ScalarSparse::Entry>* mass, Problems* problems) {
  const BodyTraits& traits = model->bodies[mesh.body].traits;
  if (traits.IsDriven() || body.slider || body.pose_drive) AddWholeBody(body, mesh.body, model);
  if (body.pose_drive) AddPoseDrive(*body.pose_drive, model);
  if (body.slider) AddSlider(*body.slider, path + ".slider", model, mass, problems);
  if (!traits.deforms) return;  // CheckScene refused their boundary sets
  for (size_t k = 0; k < body.boundary_sets.size(); ++k) {
    const BoundarySetSpec& set = body.boundary_sets[k];
    const std::string set_path = absl::StrCat(path, ".boundary_sets[", k, "]");
    const bool added = AddBoundarySet(set, mesh, set_path, model, problems);
    if (added && set.slider) AddSlider(*set.slider, set_path + ".slider", model, mass, problems);
  }
}

// Which pairs may touch, and with what friction. The last matching override wins.
void SetPairs(const SceneSpec& spec, Model* model) {
  const PairOverrides overrides(spec);
  CollisionSurface& s = model->surface;
  const int32_t n = s.body_count;
  model->friction = {n, std::vector<FrictionLaw>(static_cast<size_t>(n) * n)};
  for (int32_t a = 0; a < n; ++a) {
    for (int32_t b = 0; b < n; ++b) {
      const BodyTraits &ta = model->bodies[a].traits, &tb = model->bodies[b].traits;
      const bool possible = (ta.moves || tb.moves) && (a != b || ta.deforms);
      bool enabled = possible;
      if (a == b) enabled = ta.deforms && spec.self_contact;
      if (a != b && !spec.rigid_contact && !ta.deforms && !tb.deforms) enabled = false;
      FrictionSpec friction = spec.friction;
      for (const ContactPairSpec* pair : overrides.Of(a, b)) {
        if (pair->enabled) enabled = *pair->enabled && possible;
        friction = Overridden(friction, pair->friction);
      }
      s.pair_enabled[a * n + b] = enabled;
      model->friction.laws[a * n + b] = ToFrictionLaw(friction, spec.contact.friction_velocity_m_s);
    }
  }
}

void CheckInitialPlacement(const Model& model, Interrupt* interrupt, Problems* problems) {
  const CollisionSurface& s = model.surface;
  const AuditReport report =
      AuditSurfaces({&s.rest_positions, &s.triangles, &s.triangle_body, s.body_count, &s.pair_enabled, interrupt}, true);
  if (Raised(interrupt)) return;
  const auto name = [&](int32_t t) {
    const Body& body = model.bodies[s.triangle_body[t]];
    return absl::StrCat("bodies[", s.triangle_body[t], "] \"", body.name, "\" triangle ", t - body.triangles.begin);
  };
  for (const auto& [a, b] : report.intersections) {
    problems->Add("bodies", "initial intersection of ", name(a), " with ", name(b),
                  "; move the bodies apart (or disable the pair)");
  }
  if (report.intersection_count > static_cast<int64_t>(report.intersections.size())) {
    problems->Add("bodies", report.intersection_count, " pairs of triangles intersect in all; the first ",
                  report.intersections.size(), " are listed");
  }
  for (const auto& [inner, outer] : report.nested) {
    if (s.IsThin(outer)) continue;  // a sheet bounds nothing: a bag may hold things
    problems->Add("bodies", "\"", model.bodies[inner].name, "\" lies wholly inside \"", model.bodies[outer].name,
                  "\" at the start");
  }
}

// What counts as still, m/s: at most what the grasp benchmark needs, a thousandth of the smallest moving body a second, and a tenth
// of the speed at which friction creeps.
double DefaultTolerance(const Model& model) {
  double tolerance = std::min(SolverSettings().newton_tolerance_m_s, 0.1 * model.contact.friction_velocity_m_s);
  for (const Body& body : model.bodies) {
    if (body.mass.mass <= 0) continue;
    Box bounds;
    for (int32_t v = body.vertices.begin; v < body.vertices.end; ++v) bounds.Include(model.surface.rest_positions[v]);
    tolerance = std::min(tolerance, 1e-3 * (bounds.hi - bounds.lo).matrix().norm());
  }
  return tolerance;
}

// Of the systems without contact: what elements, hinges and mass couple.
SolveCost CostOfSystems(const Model& model) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  const auto couple = [&pairs](const auto& nodes) {
    for (size_t a = 0; a < nodes.size(); ++a) {
      for (size_t b = 0; b < a; ++b) pairs.emplace_back(nodes[a], nodes[b]);
    }
  };
  for (int32_t n = 0; n < model.node_count; ++n) {
    for (int32_t k = model.mass.row_start[n]; k < model.mass.row_start[n + 1]; ++k) pairs.emplace_back(model.mass.columns[k], n);
  }
  for (const ElasticBody& body : model.elastic) {
    for (const Tet& tet : body.nodes) couple(tet);
  }
  for (const ShellBody& shell : model.shells) {
    for (const Triangle& triangle : shell.triangles) couple(triangle);
    for (const Hinge& hinge : shell.hinges) couple(hinge.nodes);
  }
  BlockMatrix pattern;
  pattern.SetPattern(model.node_count, &pairs);
  int64_t of_sheets = 0;
  for (const ShellBody& shell : model.shells) of_sheets += model.bodies[shell.body].nodes.size();
  return EstimateSolveCost(pattern, 2 * of_sheets > model.node_count ? SystemKind::kSheets : SystemKind::kSolids);
}

// Of the elements, those whose Hessians change with the point. Of the others' factor most is kept from one system to the next.
double ChangingShare(const Model& model) {
  double changing = 0, all = 0;
  for (const ElasticBody& body : model.elastic) {
    const double elements = static_cast<double>(body.nodes.size());
    all += elements;
    if (!std::holds_alternative<LinearCorotated>(body.material)) changing += elements;
  }
  for (const ShellBody& shell : model.shells) {
    all += static_cast<double>(shell.triangles.size());
    changing += static_cast<double>(shell.triangles.size());
  }
  return all > 0 ? changing / all : 1;
}

void ChooseSolver(const Model& model, SolverSettings* settings) {
  constexpr double kComputedAgain = 0.3;  // of the factor of constant Hessians, where contact changes
  SolveCost cost;
  cost.unknowns = 3 * int64_t{model.node_count};
  if (cost.unknowns > kAlwaysFactored) cost = CostOfSystems(model);
  cost.factor_operations *= kComputedAgain + (1 - kComputedAgain) * ChangingShare(model);
  ChooseLinearSolver(cost, settings);
}

void CopySettings(const SceneSpec& spec, Model* model) {
  model->name = spec.name;
  model->gravity = spec.gravity;
  model->contact = spec.contact;
  model->solver = spec.solver;
  if (spec.solver.linear_solver == LinearSolverKind::kAuto) ChooseSolver(*model, &model->solver);
  if (spec.solver.newton_tolerance_m_s == 0) model->solver.newton_tolerance_m_s = DefaultTolerance(*model);
  model->dynamics = spec.dynamics;
  if (spec.dynamics.sleep.speed_m_s == 0) model->dynamics.sleep.speed_m_s = 5 * spec.contact.friction_velocity_m_s;
  model->schedule_duration_s = spec.schedule_duration_s;
  model->schedule_dt_s = spec.schedule_dt_s;
  if (spec.holding) model->holding = {model->FindBody(spec.holding->body), spec.holding->start_s, spec.holding->end_s};
}

void AddGoals(const std::vector<GoalSpec>& goals, Model* model) {
  for (const GoalSpec& spec : goals) {
    const int32_t relative_to = spec.relative_to.empty() ? -1 : model->FindBody(spec.relative_to);
    model->goals.push_back({spec.name, model->FindBody(spec.body), relative_to, *spec.measure, spec.tolerance, spec.from_s});
  }
}

// What a budget says of a step, said of a scene.
absl::Status Ended(const absl::Status& status) {
  const bool cancelled = absl::IsCancelled(status);
  if (!cancelled && !absl::IsDeadlineExceeded(status)) return absl::OkStatus();
  return absl::Status(status.code(), cancelled ? "cancelled while the scene was compiled" : "the scene was not compiled in time");
}

// What contact needs of surfaces that are placed soundly, settings and goals.
absl::Status AddContact(const SceneSpec& spec, const std::vector<SelectableMesh>& meshes, Interrupt* interrupt, Model* model,
                        Problems* problems) {
  model->summaries = SummarizeSurface(model->surface, model->embedding, model->initial_positions, interrupt);
  EIPC_RETURN_IF_ERROR(Ended(interrupt->Poll()));
  model->contact_weights = ContactWeights(model->surface);
  EIPC_RETURN_IF_ERROR(Ended(interrupt->Poll()));
  CopySettings(spec, model);
  AddGoals(spec.goals, model);
  model->start_positions = model->initial_positions;
  EIPC_RETURN_IF_ERROR(Ended(interrupt->Poll()));
  CheckSeparation(*model, meshes, problems, interrupt);
  return Ended(interrupt->Poll());
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Model>> CompileScene(const SceneSpec& spec, Problems problems, const StepBudget& budget) {
  Interrupt interrupt;
  const Interrupt::Watch watch(&interrupt, [&budget] { return budget.Poll(); });
  CheckScene(spec, &problems);
  // What is calculated with numbers out of range says nothing of them.
  if (!CheckNumbers(spec, &problems)) return problems.ToStatus();
  auto model = std::make_shared<Model>();
  std::vector<ScalarSparse::Entry> mass;
  std::vector<std::vector<Vec3>> surface_positions;
  std::vector<SelectableMesh> driven;
  std::vector<std::vector<Triangle>> triangles;
  std::vector<std::vector<Vec3>> stress_free;  // by body; empty for what is no sheet
  const std::vector<int> stiffness = SharedStiffness(spec.bodies);
  std::vector<std::shared_ptr<const CondensedStiffness>> condensed(spec.bodies.size());
  const int64_t problems_before = problems.count();
  for (size_t b = 0; b < spec.bodies.size(); ++b) {
    // A mesh that could not be read was reported by its reader.
    if (spec.bodies[b].mesh.vertices.empty() && !problems.empty()) continue;
    CompiledBody body = CompileBody(spec.bodies[b], absl::StrCat("bodies[", b, "]"), &problems,
                                    stiffness[b] < 0 ? nullptr : condensed[static_cast<size_t>(stiffness[b])], &interrupt);
    EIPC_RETURN_IF_ERROR(Ended(interrupt.Poll()));
    condensed[b] = body.elastic.condensed;
    surface_positions.push_back(body.surface_positions);
    triangles.push_back(body.triangles);
    driven.push_back({static_cast<int32_t>(b), spec.bodies[b].pose, body.node_authored, body.node_of_vertex});
    stress_free.push_back(body.stress_free);
    std::optional<ShellBody> shell = std::move(body.shell);
    AppendBody(spec.bodies[b], std::move(body), &mass, model.get());
    if (shell) AddShell(spec.bodies[b], driven.back(), *std::move(shell), absl::StrCat("bodies[", b, "]"), model.get(), &problems);
  }
  if (problems.count() > problems_before || model->bodies.size() != spec.bodies.size()) return problems.ToStatus();
  for (size_t b = 0; b < spec.bodies.size(); ++b) {
    AddDriven(spec.bodies[b], driven[b], absl::StrCat("bodies[", b, "]"), model.get(), &mass, &problems);
    EIPC_RETURN_IF_ERROR(Ended(interrupt.Poll()));
  }
  AddBending(spec.bodies, stress_free, model.get());
  EIPC_RETURN_IF_ERROR(Ended(interrupt.Poll()));
  model->mass = ScalarSparse::FromEntries(model->node_count, std::move(mass));
  EIPC_RETURN_IF_ERROR(Ended(interrupt.Poll()));
  model->surface = BuildCollisionSurface(surface_positions, triangles, &interrupt);
  EIPC_RETURN_IF_ERROR(Ended(interrupt.Poll()));
  for (const Body& body : model->bodies) {
    model->surface.body_stays_flat.push_back(!body.traits.deforms);
    model->surface.body_unmoved_by_forces.push_back(!body.traits.reacts);
  }
  MarkThinSurfaces(spec, stress_free, model.get(), &problems, &interrupt);
  EIPC_RETURN_IF_ERROR(Ended(interrupt.Poll()));
  for (size_t b = 0; b < spec.bodies.size(); ++b) {
    AddFilledRegions(spec.bodies[b], static_cast<int32_t>(b), absl::StrCat("bodies[", b, "]"), model.get(), &problems, &interrupt);
  }
  SetPairs(spec, model.get());
  EIPC_RETURN_IF_ERROR(Ended(interrupt.Poll()));
  AddJoints(spec, driven, model.get(), &problems, &interrupt);
  EIPC_RETURN_IF_ERROR(Ended(interrupt.Poll()));
  CheckInitialPlacement(*model, &interrupt, &problems);
  EIPC_RETURN_IF_ERROR(Ended(interrupt.Poll()));
  if (!problems.empty()) return problems.ToStatus();
  EIPC_RETURN_IF_ERROR(AddContact(spec, driven, &interrupt, model.get(), &problems));
  if (!problems.empty()) return problems.ToStatus();
  if (!IsFinite(InitialState(*model))) {
    problems.Add("bodies",
                 "forces, masses or velocities are so large that numbers of the first state are not finite; make them smaller");
    return problems.ToStatus();
  }
  if (spec.start_in_equilibrium) {
    const absl::Status settled = SettleStart(model.get(), budget);
    EIPC_RETURN_IF_ERROR(Ended(settled));
    if (!settled.ok()) problems.Add("start_in_equilibrium", settled.message());
    if (!problems.empty()) return problems.ToStatus();
  }
  return std::shared_ptr<const Model>(std::move(model));
}

}  // namespace eipc
