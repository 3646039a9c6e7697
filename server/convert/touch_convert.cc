#include "server/convert/touch_convert.h"

#include <algorithm>

#include "eipc/v1/observation.pb.h"
#include "server/convert/array_convert.h"
#include "server/convert/geometry_convert.h"
#include "sim/dynamics/pair_slip.h"
#include "sim/sensor/contact_tractions.h"
#include "sim/sensor/stresses.h"

namespace eipc {
namespace {

void TractionsToProto(const ContactTractions& tractions, bool float32, v1::ContactTractions* out) {
  const int64_t count = static_cast<int64_t>(tractions.vertices.size());
  IndicesToProto(tractions.vertices, out->mutable_vertices());
  PointsToProto(tractions.normal_force.data(), count, float32, out->mutable_normal_force_n());
  PointsToProto(tractions.friction_force.data(), count, float32, out->mutable_friction_force_n());
  NumbersToProto(tractions.area_m2, float32, out->mutable_area_m2());
  PointsToProto(tractions.slip_velocity.data(), count, float32, out->mutable_slip_velocity_m_s());
}

void SlipToProto(const Model& model, const State& state, const PairSlip& slip, v1::PairSlip* out) {
  out->set_body(model.bodies[slip.body].name);
  out->set_other(model.bodies[slip.other].name);
  out->set_normal_force_n(slip.normal_force);
  Vec3ToProto(slip.velocity, out->mutable_velocity_m_s());
  out->set_sticking(slip.sticking);
  for (const State::Slide& slide : state.slides) {
    if (slide.body != slip.body || slide.other != slip.other) continue;
    out->mutable_since_contact()->set_begun_s(slide.begun_s);
    Vec3ToProto(slide.displacement_m, out->mutable_since_contact()->mutable_displacement_m());
    out->mutable_since_contact()->set_path_m(slide.path_m);
  }
}

}  // namespace

TouchPlan::TouchPlan(const v1::ObservationRequest& request, bool float32)
    : contact_tractions_(request.contact_tractions()), stresses_(request.stresses()), slips_(request.slips()), float32_(float32) {}

int64_t TouchPlan::MostBytes(const Body& body) const {
  const int64_t number = float32_ ? sizeof(float) : sizeof(double);
  int64_t bytes = 0;
  if (contact_tractions_) bytes += body.vertices.size() * (sizeof(int32_t) + 10 * number);
  if (stresses_) bytes += body.tets.size() * number;
  return bytes;
}

void TouchPlan::Observe(const World& world, const std::vector<int>& bodies, const std::vector<Vec3>& x,
                        v1::Observation* out) const {
  if (contact_tractions_) ObserveTractions(world, bodies, x, out);
  if (slips_) ObserveSlips(world, bodies, out);
  if (!stresses_) return;
  for (size_t i = 0; i < bodies.size(); ++i) {
    const Model& model = world.model();
    if (!model.bodies[bodies[i]].traits.deforms) continue;
    NumbersToProto(BodyStresses(model, world.state(), bodies[i]), float32_,
                   out->mutable_bodies(static_cast<int>(i))->mutable_von_mises_pa());
  }
}

void TouchPlan::ObserveSlips(const World& world, const std::vector<int>& bodies, v1::Observation* out) {
  const auto wanted = [&bodies](int32_t body) { return std::find(bodies.begin(), bodies.end(), body) != bodies.end(); };
  for (const PairSlip& slip : Slips(world.model(), world.state().v, world.contact_forces())) {
    if (wanted(slip.body) || wanted(slip.other)) SlipToProto(world.model(), world.state(), slip, out->add_slips());
  }
}

void TouchPlan::ObserveTractions(const World& world, const std::vector<int>& bodies, const std::vector<Vec3>& x,
                                 v1::Observation* out) const {
  const Model& model = world.model();
  std::vector<bool> wanted(model.bodies.size(), false);
  for (const int body : bodies) wanted[body] = true;
  const std::vector<ContactTractions> tractions = ContactTractionsOn(model, wanted, x, world.state().v, world.contact_forces());
  for (size_t i = 0; i < bodies.size(); ++i) {
    TractionsToProto(tractions[bodies[i]], float32_, out->mutable_bodies(static_cast<int>(i))->mutable_contact_tractions());
  }
}

}  // namespace eipc
