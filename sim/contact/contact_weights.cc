#include "sim/contact/contact_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace eipc {
namespace {

// Triangles whose normals are less than 45 degrees apart face the same direction.
constexpr double kSameDirection = 0.7;
// Of the product of two edges' lengths, what their crossing counts at least.
constexpr double kCrossing = 0.005;
// Of the product of two edges' widths, what their crossing counts at least where one of them may have folded.
constexpr double kFold = 0.02;
// The product of lengths over dhat^2 from which that is so: that of edges of some ten dhat.
constexpr double kFarFromPoints = 96;
// The square of an edge's length over that of its width, between two equilateral triangles.
constexpr double kEquilateral = 12;
// Angle from which an edge that stays as it is is a ridge, rad.
constexpr double kRidge = 0.5;
// Least sharpness: two edges that are flat at rest weigh a ten-thousandth of two sharp ones, unless a body folds there.
constexpr double kLeastSharpness = 0.01;
// Sine of the angle below which two triangles are one plane: a ridge of 1e-10 m on a decimetre.
constexpr double kFlat = 1e-9;

// Of an edge: its triangles' normals, and a third of their areas, m^2.
struct Sides {
  std::vector<Vec3> normals;
  int turns = 0;    // triangles that run along it minus those that run against it
  double area = 0;  // of all
  double least = std::numeric_limits<double>::infinity();

  // Two triangles that go on in each other. Others end there: one alone, three or more, or two that lie on the same side.
  bool Inside() const { return normals.size() == 2 && turns == 0; }
};

// What of the surface at an edge may face another one, m^2: both sides of a fold, at a ridge or where more than two triangles meet
// as much for each as the smallest has. The wall that ends there is of any size.
double FacingArea(const Sides& of) {
  const bool fold = of.Inside() && of.normals[0].dot(of.normals[1]) > kSameDirection;
  return fold ? of.area : static_cast<double>(of.normals.size()) * of.least;
}

struct Corner {
  Vec3 normal;
  double area;
};

// The area of those that face one direction, that in which most of them do. Tried are the directions of the largest: the cost stays
// linear where a hundred thousand triangles meet.
double AreaOfOneDirection(std::vector<Corner>* corners) {
  constexpr size_t kMostDirections = 64;
  if (corners->size() > kMostDirections) {
    std::stable_sort(corners->begin(), corners->end(), [](const Corner& l, const Corner& r) { return l.area > r.area; });
  }
  double most = 0;
  for (size_t i = 0; i < std::min(corners->size(), kMostDirections); ++i) {
    double area = 0;
    for (const Corner& c : *corners) area += (*corners)[i].normal.dot(c.normal) > kSameDirection ? c.area : 0;
    most = std::max(most, area);
  }
  return most;
}

// Part of a triangle's area that is nearest to the corner p (Meyer et al. 2003, figure 4): Voronoi unless it is obtuse.
double CornerArea(const Vec3& p, const Vec3& q, const Vec3& r, double area) {
  const Vec3 pq = q - p, pr = r - p, qr = r - q;
  const double at_p = pq.dot(pr), at_q = -pq.dot(qr), at_r = pr.dot(qr);
  if (at_p < 0) return 0.5 * area;
  if (at_q < 0 || at_r < 0) return 0.25 * area;
  return (pr.squaredNorm() * at_q + pq.squaredNorm() * at_r) / (16 * area);  // cot = dot / (2 area)
}

}  // namespace

ContactWeights::ContactWeights(const CollisionSurface& surface) {
  MeasureVertices(surface);
  MeasureEdges(surface);
  ShareBetweenBodies(surface);
}

double ContactWeights::EdgePair(const CollisionSurface& surface, int32_t e, int32_t f, double dhat) const {
  const double dhat2 = dhat * dhat;
  const double lengths = std::sqrt(surface.edge_rest_length2[e] * surface.edge_rest_length2[f]);
  const double crossing = kCrossing * lengths, r = lengths / dhat2;
  const double fine = std::min(1.0, r * r), sharp = sharpness_[e] * sharpness_[f];
  const bool thin_e = surface.IsThin(surface.edge_body[e]), thin_f = surface.IsThin(surface.edge_body[f]);
  const double widths = fold_width_[e] * fold_width_[f];
  if (thin_e && thin_f) return kCrossing * kEquilateral * widths * fine * sharp;
  const double area = (thin_e || thin_f ? crossing : std::max(dhat2, crossing)) * sharp;
  if (surface.StaysFlat(surface.edge_body[e]) && surface.StaysFlat(surface.edge_body[f])) return area * fine;
  return std::max(area, kFold * widths * std::min(1.0, r / kFarFromPoints)) * fine;
}

void ContactWeights::MeasureVertices(const CollisionSurface& surface) {
  const std::vector<Vec3>& x = surface.rest_positions;
  std::vector<std::vector<Corner>> corners(surface.vertex_count);
  for (const Triangle& t : surface.triangles) {
    const Vec3 normal = (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]);
    const double twice = normal.norm();
    if (!(twice > 0)) continue;
    for (int k = 0; k < 3; ++k) {
      const int32_t p = t[k];
      corners[p].push_back({normal / twice, CornerArea(x[p], x[t[(k + 1) % 3]], x[t[(k + 2) % 3]], 0.5 * twice)});
    }
  }
  vertex_area_.assign(surface.vertex_count, 0);
  for (int32_t p = 0; p < surface.vertex_count; ++p) {
    // A sheet faces both directions wherever it is folded.
    if (surface.IsThin(surface.vertex_body[p])) {
      for (const Corner& c : corners[p]) vertex_area_[p] += c.area;
    } else {
      vertex_area_[p] = AreaOfOneDirection(&corners[p]);
    }
  }
}

void ContactWeights::MeasureEdges(const CollisionSurface& surface) {
  flat_vertex_.assign(surface.vertex_count, 1);
  const std::vector<Vec3>& x = surface.rest_positions;
  std::map<Edge, Sides> sides;  // an edge belongs to one body, so its vertices name it
  for (const Triangle& t : surface.triangles) {
    const Vec3 twice = (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]), normal = twice.normalized();
    const double third = twice.norm() / 6;
    for (int k = 0; k < 3; ++k) {
      Sides& of = sides[{std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])}];
      of.normals.push_back(normal);
      of.turns += t[k] < t[(k + 1) % 3] ? 1 : -1;
      of.area += third;
      of.least = std::min(of.least, third);
    }
  }
  for (const Edge& e : surface.edges) {
    const Sides& of = sides[{std::min(e[0], e[1]), std::max(e[0], e[1])}];
    const std::vector<Vec3>& n = of.normals;
    // 1 - cos of the angle by which the surface turns; where it ends it is sharp.
    const double turn = of.Inside() ? 1 - n[0].dot(n[1]) : 1;
    sharpness_.push_back(surface.IsThin(surface.vertex_body[e[0]]) ? 1.0 : std::clamp(turn, kLeastSharpness, 1.0));
    const double sine = of.Inside() && turn < 1 ? n[0].cross(n[1]).norm() : 1;
    const bool flat = sine < kFlat;
    const double width = FacingArea(of) / std::max((x[e[1]] - x[e[0]]).norm(), 1e-300);
    fold_width_.push_back(surface.StaysFlat(surface.vertex_body[e[0]]) ? std::min(1.0, sine / kRidge) * width : width);
    if (flat && surface.StaysFlat(surface.vertex_body[e[0]])) {
      sharpness_.back() = fold_width_.back() = 0;
    } else {
      flat_vertex_[e[0]] = flat_vertex_[e[1]] = 0;
    }
  }
}

void ContactWeights::ShareBetweenBodies(const CollisionSurface& surface) {
  const int32_t bodies = surface.body_count;
  // The mean area of a vertex where the surface is met, by area: a fine part elsewhere makes it no finer.
  std::vector<double> squares(bodies, 0), facing(bodies, 0), total(bodies, 0), coarseness(bodies, 0);
  for (int32_t p = 0; p < surface.vertex_count; ++p) {
    const int32_t b = surface.vertex_body[p];
    squares[b] += vertex_area_[p] * vertex_area_[p], facing[b] += vertex_area_[p], total[b] += surface.vertex_area[p];
  }
  for (int32_t b = 0; b < bodies; ++b) coarseness[b] = facing[b] > 0 ? squares[b] / facing[b] * total[b] : 0;
  share_.assign(static_cast<size_t>(bodies) * bodies, 0.5);
  for (int32_t a = 0; a < bodies; ++a) {
    for (int32_t b = 0; b < bodies; ++b) {
      const double aa = coarseness[a] * coarseness[a], bb = coarseness[b] * coarseness[b];
      if (a != b && aa + bb > 0)
        share_[static_cast<size_t>(a) * bodies + b] = std::clamp(bb / (aa + bb), kLeastShare, 1 - kLeastShare);
    }
  }
}

}  // namespace eipc
