#include "sim/sensor/contact_tractions.h"

#include <algorithm>

namespace eipc {
namespace {

// Calls visit(body, vertex, stencil, i) for each vertex of a wanted body that another body's contact acts on.
template <typename Visit>
void ForEachForce(const Model& model, const std::vector<bool>& wanted, const ContactForces& contacts, const Visit& visit) {
  for (const ContactForce& c : contacts.stencils) {
    if (c.body_a == c.body_b) continue;  // inner forces of one body
    for (int i = 0; i < 4; ++i) {
      const int32_t body = model.surface.vertex_body[c.vertices[i]];
      if (wanted[body]) visit(body, c.vertices[i] - model.bodies[body].vertices.begin, c, i);
    }
  }
}

std::vector<double> VertexAreas(const Model& model, const Body& body, const std::vector<Vec3>& x) {
  std::vector<double> area(body.vertices.size(), 0.0);
  for (int32_t t = body.triangles.begin; t < body.triangles.end; ++t) {
    const Triangle& v = model.surface.triangles[t];
    const double third = (x[v[1]] - x[v[0]]).cross(x[v[2]] - x[v[0]]).norm() / 6;
    for (const int32_t vertex : v) area[vertex - body.vertices.begin] += third;
  }
  return area;
}

}  // namespace

std::vector<ContactTractions> ContactTractionsOn(const Model& model, const std::vector<bool>& wanted, const std::vector<Vec3>& x,
                                                 const ContactForces& contacts) {
  std::vector<ContactTractions> out(model.bodies.size());
  ForEachForce(model, wanted, contacts,
               [&](int32_t body, int32_t vertex, const ContactForce&, int) { out[body].vertices.push_back(vertex); });
  for (size_t b = 0; b < out.size(); ++b) {
    std::vector<int32_t>& vertices = out[b].vertices;
    if (vertices.empty()) continue;
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    out[b].normal_force.assign(vertices.size(), Vec3::Zero());
    out[b].friction_force.assign(vertices.size(), Vec3::Zero());
    const std::vector<double> areas = VertexAreas(model, model.bodies[b], x);
    for (const int32_t vertex : vertices) out[b].area_m2.push_back(areas[vertex]);
  }
  ForEachForce(model, wanted, contacts, [&](int32_t body, int32_t vertex, const ContactForce& c, int i) {
    ContactTractions& of = out[body];
    const size_t at = std::lower_bound(of.vertices.begin(), of.vertices.end(), vertex) - of.vertices.begin();
    of.normal_force[at] += c.normal_force[i];
    of.friction_force[at] += c.friction_force[i];
  });
  return out;
}

}  // namespace eipc
