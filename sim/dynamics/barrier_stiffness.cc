#include "sim/dynamics/barrier_stiffness.h"

#include <algorithm>

#include "sim/dynamics/model.h"
#include "sim/energy/barrier_function.h"

namespace eipc {

double InitialBarrierStiffness(const Model& model) {
  if (model.contact.stiffness > 0) return model.contact.stiffness;
  const double acceleration = std::max(9.81, model.gravity.norm());
  const double dhat = model.contact.dhat_m;
  const double unit_force = -BarrierFirst(0.5 * dhat, dhat);  // of stiffness 1, m (or m per m^2)
  double stiffness = 0;
  for (const Body& body : model.bodies) {
    if (body.mass.mass <= 0) continue;
    const double load = body.mass.mass * acceleration + body.external_force.norm();
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

double NextBarrierStiffness(const Model& model, double stiffness, double min_distance_m) {
  if (model.contact.stiffness > 0 || min_distance_m >= 0.05 * model.contact.dhat_m) return stiffness;
  return std::max(stiffness, std::min(2 * stiffness, 1e4 * InitialBarrierStiffness(model)));
}

}  // namespace eipc
