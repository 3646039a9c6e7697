#include "sim/dynamics/pressed_bodies.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/contact/contact_potential.h"
#include "sim/energy/bending.h"
#include "sim/energy/condensed.h"
#include "sim/energy/membrane.h"

namespace eipc {
namespace {

// Mean velocity of driven bodies, unless a static one is pressed too.
Vec3 CommonVelocity(const Model& model, const std::vector<uint8_t>& pressed, const VecX& v) {
  Vec3 sum = Vec3::Zero();
  double nodes = 0;
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (!pressed[b]) continue;
    if (!body.traits.moves) return Vec3::Zero();
    if (!body.traits.IsDriven()) continue;
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) sum += v.segment<3>(3 * n);
    nodes += body.nodes.size();
  }
  return nodes > 0 ? Vec3(sum / nodes) : Vec3(Vec3::Zero());
}

bool HasNode(const Body& body, int32_t node) { return node >= body.nodes.begin && node < body.nodes.end; }

// Sums of the sizes of M (v - v_before) / dt, and of the barrier's gradient, over free nodes of pressed bodies.
void MeasureForces(const Model& model, const std::vector<uint8_t>& pressed, const PartEnd& end, StageProblem* problem,
                   PressedBodies* found) {
  VecX gradient = VecX::Zero(end.q.size());
  problem->BarrierGradient(&gradient);
  const VecX acceleration = (end.v - end.v_before) / end.dt_s;
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (!pressed[b] || !body.traits.reacts) continue;
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) {
      if (end.fixed[n]) continue;
      found->contact_n += gradient.segment<3>(3 * n).norm();
      found->inertia_n += model.mass.RowTimes(n, acceleration).norm();
    }
  }
}

}  // namespace

std::vector<uint8_t> BodiesWithSmallGaps(const Model& model, const StageProblem& problem) {
  std::vector<uint8_t> pressed(model.bodies.size(), 0);
  for (const ContactStencil& s : problem.contacts().stencils()) {
    if (s.gap() < kSmallGap * s.dhat) pressed[s.body_a] = pressed[s.body_b] = 1;
  }
  return pressed;
}

double KineticEnergyOf(const Model& model, const std::vector<uint8_t>& pressed, const VecX& v) {
  const Vec3 common = CommonVelocity(model, pressed, v);
  VecX beside = VecX::Zero(v.size());
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (!pressed[b] || !body.traits.reacts) continue;
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) beside.segment<3>(3 * n) = v.segment<3>(3 * n) - common;
  }
  double energy = 0;
  for (int32_t n = 0; n < model.node_count; ++n) {
    if (!beside.segment<3>(3 * n).isZero(0)) energy += 0.5 * beside.segment<3>(3 * n).dot(model.mass.RowTimes(n, beside));
  }
  return energy;
}

double StoredEnergyOf(const Model& model, const std::vector<uint8_t>& pressed, const VecX& q) {
  double energy = 0;
  for (const ElasticBody& elastic : model.elastic) {
    const auto of = std::find_if(model.bodies.begin(), model.bodies.end(),
                                 [&](const Body& body) { return !elastic.nodes.empty() && HasNode(body, elastic.nodes[0][0]); });
    if (of != model.bodies.end() && pressed[of - model.bodies.begin()]) energy += StoredElasticEnergy(elastic, q);
  }
  for (const ShellBody& shell : model.shells) {
    if (pressed[shell.body]) energy += MembraneTerm::StoredEnergy(shell, q) + BendingTerm::StoredEnergy(shell, q);
  }
  return energy;
}

PressedBodies MeasurePressedBodies(const Model& model, StageProblem* problem, const PartEnd& end) {
  PressedBodies found;
  const std::vector<uint8_t> pressed = BodiesWithSmallGaps(model, *problem);
  for (const ContactStencil& s : problem->contacts().stencils()) {
    const double gap = s.gap() / s.dhat;
    if (gap >= kSmallGap) continue;
    found.least_gap = std::min(found.least_gap, gap);
    if (gap < found.closing_gap && problem->Closing(s.v, DistanceGradient(s.closest), end.v) >= 0) found.closing_gap = gap;
  }
  if (found.least_gap >= kSmallGap) return found;
  const auto reacts = [&](int32_t b) { return pressed[b] && model.bodies[b].traits.reacts; };
  for (const ContactStencil& s : problem->contacts().stencils()) {
    if (!reacts(s.body_a) && !reacts(s.body_b)) continue;
    found.barrier_energy += problem->barrier_stiffness() * ContactPotential::ValuePerStiffness(s, Gather(s.v, problem->x()));
  }
  MeasureForces(model, pressed, end, problem, &found);
  found.kinetic_energy = KineticEnergyOf(model, pressed, end.v);
  found.stored_energy = StoredEnergyOf(model, pressed, end.q);
  const double acceleration = std::max(9.81, model.gravity.norm());
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    if (pressed[b]) found.load_n += std::max(body.mass.mass, 0.0) * acceleration + body.external_force.norm();
  }
  return found;
}

}  // namespace eipc
