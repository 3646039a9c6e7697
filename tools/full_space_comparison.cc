#include "tools/full_space_comparison.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/scene/compile_scene.h"
#include "sim/sensor/contact_wrenches.h"

namespace eipc {
namespace {

using Json = nlohmann::ordered_json;
using PairForces = std::map<std::pair<int32_t, int32_t>, Vec3>;

// Contacts that carry less do not count in the summary: a brush against the ground has no force to be right about.
constexpr double kLeastShareOfPeak = 0.1;

// Normal force of the higher body on the lower one, N.
PairForces NormalForces(const World& world, const std::vector<Vec3>& x) {
  PairForces forces;
  for (const ContactWrench& w : ContactWrenches(world.model(), world.state(), x, world.contact_forces())) {
    if (w.body < w.other) forces[{w.body, w.other}] = w.normal_force;
  }
  return forces;
}

Vec3 ForceOf(const PairForces& forces, const std::pair<int32_t, int32_t>& pair) {
  const auto it = forces.find(pair);
  return it == forces.end() ? Vec3(Vec3::Zero()) : it->second;
}

// Both surfaces come from the same mesh; their vertices have the same order.
absl::Status CheckSameSurfaces(const SurfaceDeflection& coarse, const SurfaceDeflection& full, const std::string& name) {
  bool same = coarse.rest().size() == full.rest().size();
  for (size_t i = 0; same && i < coarse.rest().size(); ++i) {
    same = (coarse.rest()[i] - full.rest()[i]).norm() <= 1e-6 * (1e-3 + coarse.rest()[i].norm());
  }
  return same ? absl::OkStatus()
              : absl::InternalError(absl::StrCat("--compare-full: the surfaces of ", name, " differ between the two spaces"));
}

}  // namespace

void FullSpaceComparison::History::Add(double coarse, double full, double difference) {
  coarse_peak = std::max(coarse_peak, coarse);
  full_peak = std::max(full_peak, full);
  coarse_end = coarse;
  full_end = full;
  difference_squares += difference * difference;
  difference_max = std::max(difference_max, difference);
}

Json FullSpaceComparison::History::Error(int64_t steps) const {
  if (!(full_peak > 0)) return nullptr;
  return {{"rms", std::sqrt(difference_squares / static_cast<double>(steps)) / full_peak},
          {"max", difference_max / full_peak},
          {"end", (coarse_end - full_end) / full_peak}};
}

Json FullSpaceComparison::History::ToJson(const std::string& unit, int64_t steps) const {
  return {{"peak_" + unit, {{"coarse", coarse_peak}, {"full", full_peak}}},
          {"end_" + unit, {{"coarse", coarse_end}, {"full", full_end}}},
          {"error", Error(steps)}};
}

absl::StatusOr<std::unique_ptr<FullSpaceComparison>> FullSpaceComparison::Create(const SceneSpec& spec,
                                                                                 std::shared_ptr<const Model> coarse, int threads) {
  EIPC_ASSIGN_OR_RETURN(const FullSpaceScene scene, InFullSpace(spec));
  absl::StatusOr<std::shared_ptr<const Model>> full = CompileScene(scene.spec);
  if (!full.ok()) {
    return absl::Status(full.status().code(), absl::StrCat("--compare-full: the scene in full space: ", full.status().message()));
  }
  std::unique_ptr<FullSpaceComparison> comparison(
      new FullSpaceComparison(std::move(coarse), *std::move(full), scene.compared, threads));
  for (const Deflections& body : comparison->bodies_) {
    EIPC_RETURN_IF_ERROR(CheckSameSurfaces(body.coarse, body.full, scene.spec.bodies[body.compared.body].name));
  }
  return comparison;
}

FullSpaceComparison::FullSpaceComparison(std::shared_ptr<const Model> coarse, std::shared_ptr<const Model> full,
                                         const std::vector<ComparedBody>& compared, int threads)
    : coarse_(std::move(coarse)), world_(std::move(full), threads) {
  for (const ComparedBody& c : compared) {
    bodies_.push_back({c, SurfaceDeflection(*coarse_, c.body), SurfaceDeflection(world_.model(), c.body), {}});
  }
}

void FullSpaceComparison::Step(const World& coarse, double dt_s) {
  if (!status_.ok()) return;
  status_ = world_.Step({dt_s, {}}, {});
  if (!status_.ok()) return;
  ++steps_;
  const StepReport& report = world_.report();
  wall_s_ += report.wall_s;
  if (report.outcome != StepOutcome::kConverged) ++steps_not_converged_;
  inverted_most_ = std::max<int64_t>(inverted_most_, report.inverted_elements);
  std::vector<Vec3> coarse_x, full_x;
  coarse.SurfacePositions(&coarse_x);
  world_.SurfacePositions(&full_x);
  for (Deflections& body : bodies_) {
    const std::vector<Vec3> u = body.coarse.Of(coarse_x);
    const std::vector<Vec3> v = body.full.Of(full_x);
    body.history.Add(body.coarse.Rms(u), body.full.Rms(v), body.full.RmsDifference(u, v));
  }
  AddForces(NormalForces(coarse, coarse_x), NormalForces(world_, full_x));
}

void FullSpaceComparison::AddForces(const PairForces& coarse, const PairForces& full) {
  std::set<int32_t> compared;
  for (const Deflections& body : bodies_) compared.insert(body.compared.body);
  for (const PairForces* forces : {&coarse, &full}) {
    for (const auto& [pair, force] : *forces) {
      if (compared.count(pair.first) + compared.count(pair.second) > 0) contacts_[pair];
    }
  }
  for (auto& [pair, history] : contacts_) {
    const Vec3 a = ForceOf(coarse, pair), b = ForceOf(full, pair);
    history.Add(a.norm(), b.norm(), (a - b).norm());
  }
}

Json FullSpaceComparison::ContactsJson() const {
  Json contacts = Json::object();
  for (const auto& [pair, history] : contacts_) {
    contacts[coarse_->bodies[pair.first].name + "/" + coarse_->bodies[pair.second].name] = history.ToJson("n", steps_);
  }
  return contacts;
}

Json FullSpaceComparison::BodiesJson() const {
  Json bodies = Json::object();
  for (const Deflections& body : bodies_) {
    const Body& coarse = coarse_->bodies[body.compared.body];
    const Body& full = world_.model().bodies[body.compared.body];
    Json json = {{"reference", body.compared.own_tets ? "the object's own tets" : "a finer cage"},
                 {"vertices", {{"coarse", coarse.nodes.size()}, {"full", full.nodes.size()}}}};
    json["deflection"] = body.history.ToJson("m", steps_);
    bodies[coarse.name] = std::move(json);
  }
  return bodies;
}

Json FullSpaceComparison::ForceErrorJson() const {
  double peak = 0;
  for (const auto& [pair, history] : contacts_) peak = std::max(peak, history.full_peak);
  Json worst = nullptr;
  for (const auto& [pair, history] : contacts_) {
    if (!(history.full_peak > 0) || history.full_peak < kLeastShareOfPeak * peak) continue;
    const Json error = history.Error(steps_);
    if (worst.is_null()) worst = error;
    for (const char* figure : {"rms", "max", "end"}) {
      if (std::abs(error[figure].get<double>()) > std::abs(worst[figure].get<double>())) worst[figure] = error[figure];
    }
  }
  return worst;
}

absl::StatusOr<Json> FullSpaceComparison::Report() const {
  if (!status_.ok()) {
    return absl::Status(status_.code(), absl::StrCat("--compare-full: step ", steps_ + 1, " in full space: ", status_.message()));
  }
  return Json{{"force_error", ForceErrorJson()},
              {"contacts", ContactsJson()},
              {"bodies", BodiesJson()},
              {"full_space",
               {{"unknowns", 3 * world_.model().node_count},
                {"wall_s", wall_s_},
                {"real_time_factor", wall_s_ > 0 ? world_.state().time_s / wall_s_ : 0},
                {"steps_not_converged", steps_not_converged_},
                {"inverted_elements_most", inverted_most_},
                {"state_digest", world_.state().Digest()}}}};
}

}  // namespace eipc
