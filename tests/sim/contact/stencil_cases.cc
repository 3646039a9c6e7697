#include "tests/sim/contact/stencil_cases.h"

namespace eipc::testing {
namespace {

CollisionSurface TwoTriangles(const std::vector<Vec3>& rest) {
  return BuildCollisionSurface({{rest[0], rest[1], rest[2]}, {rest[3], rest[4], rest[5]}}, {{{0, 1, 2}}, {{0, 1, 2}}});
}

ContactSettings Settings(double dhat, BarrierForm form) {
  ContactSettings settings;
  settings.dhat_m = dhat;
  settings.form = form;
  return settings;
}

int32_t EdgeIndex(const CollisionSurface& s, const Edge& edge) {
  for (size_t e = 0; e < s.edges.size(); ++e) {
    if (s.edges[e] == edge) return static_cast<int32_t>(e);
  }
  return -1;
}

// Vertex 0 stands over the triangle 3, 4, 5 in the plane z = 0.
std::vector<Vec3> OverTriangle(const Vec3& point) {
  return {point,          point + Vec3(0.04, 0.01, 0.08), point + Vec3(-0.03, 0.03, 0.09), {-0.05, -0.04, 0}, {0.06, -0.03, 0},
          {0.01, 0.07, 0}};
}

// Edge {0, 1} along x at z = `gap`, edge {3, 4} as given.
std::vector<Vec3> OverEdge(double gap, const Vec3& b0, const Vec3& b1) {
  return {{-0.05, 0, gap}, {0.04, 0, gap}, {0.01, 0.03, 0.07}, b0, b1, {0.02, -0.05, -0.06}};
}

}  // namespace

OneContact::OneContact(ContactKind kind, const std::vector<Vec3>& rest, double dhat, BarrierForm form)
    : surface_(TwoTriangles(rest)), weights_(surface_), contacts_(&surface_, &weights_, Settings(dhat, form)) {
  if (kind == ContactKind::kPointTriangle) {
    candidates_ = {{{0, 3, 4, 5}, 0, 1, kind}};
  } else {
    candidates_ = {{{0, 1, 3, 4}, EdgeIndex(surface_, {0, 1}), EdgeIndex(surface_, {3, 4}), kind}};
  }
  candidates_[0].dhat = dhat;  // the two are two bodies
}

void OneContact::Update(const std::vector<Vec3>& x) { contacts_.Update(candidates_, x, &pool_); }

std::optional<ContactStencil> OneContact::At(const std::vector<Vec3>& x) {
  Update(x);
  if (contacts_.stencils().empty()) return std::nullopt;
  return contacts_.stencils()[0];
}

std::vector<StencilCase> StencilCases(double gap, Random* random) {
  constexpr ContactKind kPt = ContactKind::kPointTriangle, kEe = ContactKind::kEdgeEdge;
  const double t = random->Uniform(-0.01, 0.01), slant = random->Uniform(0.4, 1.2);
  const double up = gap * std::sin(slant), side = gap * std::cos(slant);
  const double nearly = random->Uniform(0.005, 0.02);  // sine of an angle at which the mollifier acts (below about 0.03)
  std::vector<StencilCase> cases = {
      {"point above a triangle", kPt, 2, false, OverTriangle({t, 0.01 + t, gap})},
      // The side from (-0.05, -0.04) to (0.06, -0.03), outward normal along (0.01, -0.11).
      {"point beside an edge of a triangle", kPt, 1, false,
       OverTriangle(Vec3(0.005 + 1.1 * t, -0.035 + 0.1 * t, up) + side * Vec3(0.01, -0.11, 0).normalized())},
      {"point beyond a corner of a triangle", kPt, 0, false, OverTriangle(Vec3(-0.05, -0.04, up) + side * Vec3(-0.8, -0.6, 0))},
      {"two edges that cross", kEe, 2, false, OverEdge(gap, {-0.01 + t, -0.04, 0}, {0.02 + t, 0.05, 0})},
      {"an end beside an edge", kEe, 1, false, OverEdge(gap, {t, 0, 0}, {0.01, 0.03, -0.05})},
      {"two ends", kEe, 0, false, OverEdge(0, Vec3(0.04, 0, 0) + up * Vec3(0, 0, -1) + side * Vec3(1, 0, 0), {0.07, 0.05, -0.03})},
      {"two edges that cross at a small angle", kEe, 2, true,
       OverEdge(gap, {-0.04, -0.045 * nearly, 0}, {0.05, 0.045 * nearly, 0})},
      {"an end beside a nearly parallel edge", kEe, 1, true, OverEdge(gap, {t, 0, 0}, {0.09, 0, -0.09 * nearly})},
      {"two ends of nearly parallel edges", kEe, 0, true,
       OverEdge(0, Vec3(0.04, 0, 0) + up * Vec3(0, 0, -1) + side * Vec3(1, 0, 0), {0.1, 0.06 * nearly, -up})},
  };
  for (StencilCase& c : cases) {
    const Pose place = {random->Cube(0.2), random->Rotation()};
    for (Vec3& p : c.x) p = place.Apply(p);
  }
  return cases;
}

StencilPositions Pick(const ContactStencil& s, const std::vector<Vec3>& x) {
  return {{x[s.v[0]], x[s.v[1]], x[s.v[2]], x[s.v[3]]}};
}

VecX Stack(const std::vector<Vec3>& x) {
  VecX q(3 * x.size());
  for (size_t i = 0; i < x.size(); ++i) q.segment<3>(3 * i) = x[i];
  return q;
}

std::vector<Vec3> Unstack(const VecX& q) {
  std::vector<Vec3> x(q.size() / 3);
  for (size_t i = 0; i < x.size(); ++i) x[i] = q.segment<3>(3 * i);
  return x;
}

}  // namespace eipc::testing
