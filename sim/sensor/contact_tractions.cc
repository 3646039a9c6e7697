#include "sim/sensor/contact_tractions.h"

#include <algorithm>

#include "sim/dynamics/pair_slip.h"

namespace eipc {
namespace {

// Calls visit(body, vertex, contact, i) for each vertex of a wanted body that another body's contact acts on.
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

size_t RowOf(const ContactTractions& tractions, int32_t vertex) {
  return std::lower_bound(tractions.vertices.begin(), tractions.vertices.end(), vertex) - tractions.vertices.begin();
}

// The vertices that contacts act on, and rows of zeros.
void AddRows(const Model& model, const std::vector<Vec3>& x, std::vector<ContactTractions>* tractions) {
  for (size_t b = 0; b < tractions->size(); ++b) {
    ContactTractions& of = (*tractions)[b];
    if (of.vertices.empty()) continue;
    std::sort(of.vertices.begin(), of.vertices.end());
    of.vertices.erase(std::unique(of.vertices.begin(), of.vertices.end()), of.vertices.end());
    for (auto* rows : {&of.normal_force, &of.friction_force, &of.slip_velocity}) rows->assign(of.vertices.size(), Vec3::Zero());
    const std::vector<double> areas = VertexAreas(model, model.bodies[b], x);
    for (const int32_t vertex : of.vertices) of.area_m2.push_back(areas[vertex]);
  }
}

void AddSlips(const Model& model, const std::vector<bool>& wanted, const VecX& v, const ContactForces& contacts,
              std::vector<ContactTractions>* tractions) {
  std::vector<std::vector<double>> weights;
  for (const ContactTractions& of : *tractions) weights.emplace_back(of.vertices.size(), 0.0);
  const ContactForce* at = nullptr;
  ContactSlip slip;
  ForEachForce(model, wanted, contacts, [&](int32_t body, int32_t vertex, const ContactForce& c, int i) {
    if (&c != at) slip = SlipOf(model, v, c);
    at = &c;
    const size_t row = RowOf((*tractions)[body], vertex);
    const double force = c.normal_force[i].norm();
    (*tractions)[body].slip_velocity[row] += (body == c.body_a ? force : -force) * slip.velocity;
    weights[body][row] += force;
  });
  for (size_t b = 0; b < weights.size(); ++b) {
    for (size_t row = 0; row < weights[b].size(); ++row) {
      if (weights[b][row] > 0) (*tractions)[b].slip_velocity[row] /= weights[b][row];
    }
  }
}

}  // namespace

std::vector<ContactTractions> ContactTractionsOn(const Model& model, const std::vector<bool>& wanted, const std::vector<Vec3>& x,
                                                 const VecX& v, const ContactForces& contacts) {
  std::vector<ContactTractions> out(model.bodies.size());
  ForEachForce(model, wanted, contacts,
               [&](int32_t body, int32_t vertex, const ContactForce&, int) { out[body].vertices.push_back(vertex); });
  AddRows(model, x, &out);
  ForEachForce(model, wanted, contacts, [&](int32_t body, int32_t vertex, const ContactForce& c, int i) {
    ContactTractions& of = out[body];
    const size_t row = RowOf(of, vertex);
    of.normal_force[row] += c.normal_force[i];
    of.friction_force[row] += c.friction_force[i];
  });
  AddSlips(model, wanted, v, contacts, &out);
  return out;
}

}  // namespace eipc
