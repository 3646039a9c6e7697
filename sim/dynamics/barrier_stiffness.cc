#include "sim/dynamics/barrier_stiffness.h"

#include <algorithm>
#include <cmath>

#include "sim/contact/contact_potential.h"
#include "sim/dynamics/model.h"

namespace eipc {
namespace {

constexpr double kShare = 0.01;  // of the other energy may be added to the barrier's

// The largest factor, up to a hundred, that adds no more than this to the barrier's energy.
double AffordableFactor(double barrier_energy, double added) {
  constexpr double kMost = 100;
  return barrier_energy * kMost <= added ? kMost : 1 + added / barrier_energy;
}

// What carries a load at gaps of kSmallGap, J: there a barrier of force F has the energy F gap ln(dhat / gap).
double EnergyOfRest(const Model& model, double load_n) {
  return load_n * kSmallGap * std::log(1 / kSmallGap) * model.contact.dhat_m;
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

double NextBarrierStiffness(const Model& model, double stiffness, const PressedBodies& end) {
  constexpr double kStill = 0.1;
  const bool impact = end.inertia_n > kStill * end.contact_n;
  const double gap = impact ? end.closing_gap : end.least_gap;
  if (model.contact.stiffness > 0 || gap >= kSmallGap) return stiffness;
  double factor = 2;
  if (impact) {
    const double affordable = std::max(kShare * (end.kinetic_energy + end.stored_energy), EnergyOfRest(model, end.load_n));
    factor = std::min(factor, AffordableFactor(end.barrier_energy, affordable));
  }
  return std::max(stiffness, std::min(factor * stiffness, BarrierStiffnessLimit(model)));
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
  const double factor = AffordableFactor(start.barrier_energy, kShare * start.other_energy);
  if (factor < kLeast) return stiffness;
  return std::max(stiffness, std::min(factor * stiffness, BarrierStiffnessLimit(model)));
}

}  // namespace eipc
