#include "sim/dynamics/barrier_stiffness.h"

#include <algorithm>

#include "sim/contact/contact_potential.h"
#include "sim/dynamics/model.h"

namespace eipc {
namespace {

// The largest factor, up to a hundred, that adds no more than a hundredth of the other energy to the barrier's.
double AffordableFactor(const StiffnessState& state) {
  constexpr double kShare = 0.01, kMost = 100;
  const double added = kShare * state.other_energy;
  return state.barrier_energy * kMost <= added ? kMost : 1 + added / state.barrier_energy;
}

// mass_of(body): kg.
template <typename MassOf>
double StiffnessFor(const Model& model, const MassOf& mass_of) {
  if (model.contact.stiffness > 0) return model.contact.stiffness;
  const double acceleration = std::max(9.81, model.gravity.norm());
  const double dhat = model.contact.dhat_m;
  const double unit_force = ContactPotential::UnitNormalForce(0.5 * dhat, dhat);
  double stiffness = 0;
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const double mass = mass_of(b);
    if (mass <= 0) continue;
    const double load = mass * acceleration + body.external_force.norm();
    double carriers = 10;
    if (model.contact.form == BarrierForm::kAreaWeighted) {
      double area = 0;
      for (int32_t v = body.vertices.begin; v < body.vertices.end; ++v) area += model.surface.vertex_area[v];
      carriers = area / 20;
    }
    stiffness = std::max(stiffness, load / (carriers * unit_force));
  }
  return stiffness > 0 ? stiffness : 1.0;
}

}  // namespace

double InitialBarrierStiffness(const Model& model) {
  return StiffnessFor(model, [&model](size_t body) { return model.bodies[body].mass.mass; });
}

double InitialBarrierStiffness(const Model& model, const std::vector<double>& masses) {
  return StiffnessFor(model, [&masses](size_t body) { return masses[body]; });
}

double BarrierStiffnessLimit(const Model& model) { return 1e10 * InitialBarrierStiffness(model); }

double NextBarrierStiffness(const Model& model, double stiffness, double relative_gap) {
  constexpr double kSmall = 0.05;
  if (model.contact.stiffness > 0 || relative_gap >= kSmall) return stiffness;
  return std::max(stiffness, std::min(2 * stiffness, BarrierStiffnessLimit(model)));
}

bool PinchDetector::Pinched(double relative_gap) {
  constexpr double kPinched = 0.01;
  constexpr int kPatience = 4;  // a gap that only a wild step left doubles with each iteration
  iterations_ = relative_gap < kPinched ? iterations_ + 1 : 0;
  return iterations_ >= kPatience;
}

double StiffnessForImpact(const Model& model, double stiffness, const StiffnessState& start) {
  constexpr double kLeast = 2;
  if (model.contact.stiffness > 0) return stiffness;
  const double factor = AffordableFactor(start);
  if (factor < kLeast) return stiffness;
  return std::max(stiffness, std::min(factor * stiffness, BarrierStiffnessLimit(model)));
}

}  // namespace eipc
