#include "sim/dynamics/collect_contacts.h"

#include <algorithm>

namespace eipc {

void ContactCollector::Collect(const StageProblem& problem, ContactForces* out, std::vector<double>* potentials) {
  const std::vector<Vec3>& x = problem.x();
  const ContactPotential potential(problem.barrier_stiffness());
  out->stencils.clear();
  out->point_triangle_count = out->edge_edge_count = 0;
  names_.clear();
  if (potentials != nullptr) potentials->clear();
  for (const ContactStencil& s : problem.contacts().stencils()) {
    ContactForce force;
    force.kind = s.kind;
    force.body_a = s.body_a;
    force.body_b = s.body_b;
    force.vertices = s.v;
    force.distance_m = s.distance;
    const Vec12 gradient = potential.Gradient(s, Gather(s.v, x));
    for (int i = 0; i < 4; ++i) force.normal_force[i] = -gradient.segment<3>(3 * i);
    if (potentials != nullptr) potentials->push_back(ContactPotential::ValuePerStiffness(s, Gather(s.v, x)));
    ++(s.kind == ContactKind::kPointTriangle ? out->point_triangle_count : out->edge_edge_count);
    names_.push_back({s.kind, s.v, out->stencils.size()});
    out->stencils.push_back(force);
  }
  std::sort(names_.begin(), names_.end());
  for (const FrictionStencil& f : problem.friction().stencils()) {
    const StencilName wanted{f.kind, f.v, 0};
    const auto it = std::lower_bound(names_.begin(), names_.end(), wanted);
    ContactForce* force;
    if (it != names_.end() && !(wanted < *it)) {
      force = &out->stencils[it->index];
    } else {
      ContactForce separated;
      separated.kind = f.kind;
      separated.body_a = f.body_a;
      separated.body_b = f.body_b;
      separated.vertices = f.v;
      separated.distance_m = std::numeric_limits<double>::infinity();
      out->stencils.push_back(separated);
      force = &out->stencils.back();
    }
    force->friction_force = problem.friction().Forces(f, x);
  }
  out->min_distance_m = problem.contacts().min_distance();
}

}  // namespace eipc
