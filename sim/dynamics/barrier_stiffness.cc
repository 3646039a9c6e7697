#include "sim/dynamics/barrier_stiffness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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

double StandardAcceleration(const Model& model) { return std::max(9.81, model.gravity.norm()); }

// What carries a load at gaps of kSmallGap, J: there a barrier of force F has the energy F gap ln(dhat / gap).
double EnergyOfRest(const Model& model, double load_n) {
  return load_n * kSmallGap * std::log(1 / kSmallGap) * model.contact.dhat_m;
}

// A fall by dhat takes this long, s.
double FallTime(const Model& model) { return std::sqrt(2 * model.contact.dhat_m / StandardAcceleration(model)); }

// A step as a part of what takes a body, thrown up by a stiffer barrier, no further than half of dhat. What rests on contact rises
// to where that carries it, by a share s of dhat. A step that takes it there at once leaves it with s dhat / h, by which it flies
// (fall time / h)^2 s^2 / 4 dhat further: half of dhat at a third of the time.
double ShareOfRise(const Model& model, double dt_s) { return 3 * dt_s / FallTime(model); }

// By which a group's barrier may gain a hundredth of what the group has, or what lifts this load, of which shorter steps may give
// it a share only.
double GroupFactor(const Model& model, const ContactGroup& group, double load_n, double dt_s) {
  const double lifted = std::min(1.0, ShareOfRise(model, dt_s)) * EnergyOfRest(model, load_n);
  return AffordableFactor(group.barrier_energy, std::max(kShare * (group.kinetic_energy + group.stored_energy), lifted));
}

// What a group with small gaps needs. At the tightest gap g a barrier of force F has the energy F g ln(1e4), and a body that F
// presses by d stores about F d / 2: in a jammed group it may be up to kJammed of that, where d is some five times g.
double NeededFactor(const ContactGroup& group) {
  constexpr double kDoubled = 2, kJammed = 4;
  const double yielding = kJammed * (group.kinetic_energy + group.stored_energy);
  if (!group.jammed || kDoubled * group.barrier_energy <= yielding) return kDoubled;
  return std::max(1.0, yielding / group.barrier_energy);
}

// For a group without small gaps.
double FactorThatLifts(const Model& model, const ContactGroup& group, double dt_s) {
  if (ShareOfRise(model, dt_s) >= 1) return std::numeric_limits<double>::infinity();
  return GroupFactor(model, group, group.contact_n, dt_s);
}

// That the motion commands, N.
double LargestForce(const DriveMotion& motion) {
  double largest = 0;
  if (motion.mode != DriveMode::kForce) return largest;
  for (const DriveMotion::Key& key : motion.keys) largest = std::max(largest, std::abs(key.value));
  return largest;
}

// mass_of(body): kg.
template <typename MassOf>
double StiffnessFor(const Model& model, const MassOf& mass_of) {
  if (model.contact.stiffness > 0) return model.contact.stiffness;
  const double dhat = model.contact.dhat_m;
  const double unit_force = ContactPotential::UnitNormalForce(0.5 * dhat, dhat);
  double stiffness = 0;
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const double mass = mass_of(b);
    if (mass <= 0) continue;
    double carriers = 10;
    if (model.contact.form == BarrierForm::kAreaWeighted) {
      double area = 0;
      for (int32_t v = body.vertices.begin; v < body.vertices.end; ++v) area += model.surface.vertex_area[v];
      carriers = area / 20;
    }
    stiffness = std::max(stiffness, LargestLoad(model, b, mass) / (carriers * unit_force));
  }
  return stiffness > 0 ? stiffness : 1.0;
}

}  // namespace

double LargestLoad(const Model& model, size_t body, double mass_kg) {
  double load = mass_kg * StandardAcceleration(model) + model.bodies[body].external_force.norm();
  for (const Slider& slider : model.sliders) {
    if (static_cast<size_t>(model.boundary_sets[slider.boundary_set].body) == body) load += LargestForce(slider.motion);
  }
  return load;
}

double InitialBarrierStiffness(const Model& model) {
  return StiffnessFor(model, [&model](size_t body) { return model.bodies[body].mass.mass; });
}

double InitialBarrierStiffness(const Model& model, const std::vector<double>& masses) {
  return StiffnessFor(model, [&masses](size_t body) { return masses[body]; });
}

double BarrierStiffnessLimit(const Model& model) { return 1e10 * InitialBarrierStiffness(model); }

double NextBarrierStiffness(const Model& model, double stiffness, const std::vector<ContactGroup>& groups, double dt_s) {
  constexpr double kStill = 0.1;
  if (model.contact.stiffness > 0) return stiffness;
  double factor = std::numeric_limits<double>::infinity(), needed = 1;
  for (const ContactGroup& group : groups) {
    const bool impact = group.inertia_n > kStill * group.contact_n;
    const bool needs = (impact ? group.closing_gap : group.least_gap) < kSmallGap;
    if (needs) needed = std::max(needed, NeededFactor(group));
    if (impact) {
      factor = std::min(factor, GroupFactor(model, group, group.load_n, dt_s));
    } else if (!needs) {
      factor = std::min(factor, FactorThatLifts(model, group, dt_s));
    }
  }
  return std::max(stiffness, std::min(std::min(factor, needed) * stiffness, BarrierStiffnessLimit(model)));
}

bool PinchDetector::Pinched(double relative_gap) {
  constexpr double kPinched = 0.01;
  constexpr int kPatience = 4;  // a gap that only a wild step left doubles with each iteration
  iterations_ = relative_gap < kPinched ? iterations_ + 1 : 0;
  return iterations_ >= kPatience;
}

double StiffnessForImpact(const Model& model, double stiffness, double pinched_energy, double pressed_energy,
                          const std::vector<ContactGroup>& start, double dt_s) {
  constexpr double kLeast = 2;
  if (model.contact.stiffness > 0) return stiffness;
  double barrier_energy = 0, factor = std::numeric_limits<double>::infinity();
  for (const ContactGroup& group : start) {
    barrier_energy += group.barrier_energy;
    if (group.least_gap >= kSmallGap) factor = std::min(factor, FactorThatLifts(model, group, dt_s));
  }
  factor = std::min(factor, AffordableFactor(barrier_energy, kShare * pinched_energy));
  if (pressed_energy > 0) factor = std::min(factor, kShare * pinched_energy / pressed_energy);
  if (factor < kLeast) return stiffness;
  return std::max(stiffness, std::min(factor * stiffness, BarrierStiffnessLimit(model)));
}

}  // namespace eipc
