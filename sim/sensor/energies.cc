#include "sim/sensor/energies.h"

#include <optional>

#include "sim/contact/contact_potential.h"
#include "sim/contact/contact_set.h"
#include "sim/energy/bending.h"
#include "sim/energy/condensed.h"
#include "sim/energy/membrane.h"

namespace eipc {
namespace {

// Searches all contacts anew.
double SearchedPotential(const Model& model, const State& state, const std::vector<Vec3>& x) {
  ThreadPool pool(1);
  BroadPhase broad_phase(&model.surface, &model.summaries, &model.embedding, &model.surface_offset, model.contact.dhat_m);
  broad_phase.UpdateBounds(state.q, state.q, 0);
  ContactSet contacts(&model.surface, &model.contact_weights, model.contact);
  contacts.Update(broad_phase.candidates(), x, &pool);
  return ContactPotential::ValuePerStiffness(contacts, x);
}

Energies Compute(const Model& model, const State& state, const std::vector<Vec3>& x, std::optional<double> barrier_potential) {
  Energies e;
  const std::vector<Vec3> acceleration = model.NodeAccelerations();
  for (int32_t i = 0; i < model.node_count; ++i) {
    e.kinetic_j += 0.5 * state.v.segment<3>(3 * i).dot(model.mass.RowTimes(i, state.v));
    e.gravity_j -= acceleration[i].dot(model.mass.RowTimes(i, state.q));
  }
  for (const ShellBody& shell : model.shells) {
    e.elastic_j += MembraneTerm::StoredEnergy(shell, state.q) + BendingTerm::StoredEnergy(shell, state.q);
  }
  for (const ElasticBody& body : model.elastic) e.elastic_j += StoredElasticEnergy(body, state.q);
  e.barrier_j = state.barrier_stiffness * (barrier_potential ? *barrier_potential : SearchedPotential(model, state, x));
  for (const FilledRegion& region : model.filled_regions) e.volume_j += region.filling.Energy(RegionVolume(region, x));
  return e;
}

}  // namespace

Energies ComputeEnergies(const Model& model, const State& state, const std::vector<Vec3>& x) {
  return Compute(model, state, x, std::nullopt);
}

Energies ComputeEnergies(const World& world, const std::vector<Vec3>& x) {
  return Compute(world.model(), world.state(), x, world.report().barrier_potential);
}

}  // namespace eipc
