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
// The product of widths over dhat^2 from which that is so: that of edges of ten dhat in equilateral triangles.
constexpr double kFarFromPoints = 8;
// Angle from which an edge that stays as it is is a ridge, rad.
constexpr double kRidge = 0.5;
// Least sharpness: two edges that are flat at rest weigh a ten-thousandth of two sharp ones, unless a body folds there.
constexpr double kLeastSharpness = 0.01;
// Sine of the angle below which two triangles are one plane: a ridge of 1e-10 m on a decimetre.
constexpr double kFlat = 1e-9;

// Of an edge: its triangles' normals, and a third of their areas, m^2.
struct Sides {
  std::vector<Vec3> normals;
  double area = 0;  // of all
  double least = std::numeric_limits<double>::infinity();
};

// What of the surface at an edge may face another one, m^2: both sides of a fold, at a ridge twice the smaller side. The wall that
// ends there is of any size.
double FacingArea(const Sides& of) {
  const bool ridge = of.normals.size() == 2 && of.normals[0].dot(of.normals[1]) <= kSameDirection;
  return ridge ? 2 * of.least : of.area;
}

struct Corner {
  int32_t vertex;
  Vec3 normal;
  double area;
};

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
  if (thin_e && thin_f) return crossing * fine * sharp;
  const double area = (thin_e || thin_f ? crossing : std::max(dhat2, crossing)) * sharp;
  if (surface.StaysFlat(surface.edge_body[e]) && surface.StaysFlat(surface.edge_body[f])) return area * fine;
  const double widths = fold_width_[e] * fold_width_[f];
  return std::max(area, kFold * widths * std::min(1.0, widths / (kFarFromPoints * dhat2))) * fine;
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
      corners[p].push_back({p, normal / twice, CornerArea(x[p], x[t[(k + 1) % 3]], x[t[(k + 2) % 3]], 0.5 * twice)});
    }
  }
  vertex_area_.assign(surface.vertex_count, 0);
  for (int32_t p = 0; p < surface.vertex_count; ++p) {
    for (const Corner& facing : corners[p]) {
      // A sheet faces both directions wherever it is folded.
      const bool thin = surface.IsThin(surface.vertex_body[p]);
      double area = 0;
      for (const Corner& c : corners[p]) area += thin || facing.normal.dot(c.normal) > kSameDirection ? c.area : 0;
      vertex_area_[p] = std::max(vertex_area_[p], area);
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
      of.area += third;
      of.least = std::min(of.least, third);
    }
  }
  for (const Edge& e : surface.edges) {
    const Sides& of = sides[{std::min(e[0], e[1]), std::max(e[0], e[1])}];
    const std::vector<Vec3>& n = of.normals;
    // 1 - cos of the angle by which the surface turns; a border, or more than two triangles, is sharp.
    const double turn = n.size() == 2 ? 1 - n[0].dot(n[1]) : 1;
    sharpness_.push_back(surface.IsThin(surface.vertex_body[e[0]]) ? 1.0 : std::clamp(turn, kLeastSharpness, 1.0));
    const double sine = n.size() == 2 && turn < 1 ? n[0].cross(n[1]).norm() : 1;
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
  std::vector<double> coarseness(bodies, 0);
  for (int32_t b = 0; b < bodies; ++b) {
    double area = 0, total = 0;
    int64_t used = 0;
    for (int32_t p = 0; p < surface.vertex_count; ++p) {
      if (surface.vertex_body[p] != b || !(vertex_area_[p] > 0)) continue;
      area += vertex_area_[p], total += surface.vertex_area[p], ++used;
    }
    coarseness[b] = used > 0 ? area / static_cast<double>(used) * total : 0;
  }
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
