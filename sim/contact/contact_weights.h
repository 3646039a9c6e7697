#ifndef EIPC_SIM_CONTACT_CONTACT_WEIGHTS_H_
#define EIPC_SIM_CONTACT_CONTACT_WEIGHTS_H_

#include <vector>

#include "sim/collision/collision_surface.h"

namespace eipc {

// Weights, in m^2, that make the area-weighted barrier a quadrature of
//     E = k integral over A of b(distance to B),
// so that the pressure between two flat surfaces at a gap g is k |b'(g)| however either of them is cut into triangles. All are
// constants of the shape in which bodies are placed: they add no forces of their own.
//
// Points carry the integral. A vertex stands for the part of the surface around it, Voronoi areas of its corners (Meyer et al.
// 2003, "Discrete Differential-Geometry Operators for Triangulated 2-Manifolds", section 3.3), that faces one direction: the corner
// of a box touches a plane with one of its three sides only. Of the directions of its triangles the one that gathers most counts.
//
// A pair of bodies is integrated over both surfaces, with shares that sum to 1: the finer and smaller surface gets nearly all, for
// points sample a contact well where they lie close together and where the surface ends with the contact. So a block on a floor is
// integrated over its underside, whatever the floor's triangles. How far apart a body's points lie is the mean over its area: many
// of them in one place do not make it fine elsewhere.
//
// Edge pairs guard the crossings that no point sees. Two sharp edges that cross are near each other over an area of about dhat^2.
// Where dhat is a tiny part of the edges that would be no guard: a crossing that carries a body's load would do so at gaps of
// (dhat / length)^2 of dhat. So it counts for a two-hundredth of the product of their lengths at least. On surfaces that are flat
// at rest and stay nearly so, where points do the work already, the weight is a small part of that, and it vanishes with the square
// of the triangles' area below dhat^2, because ever more pairs are within dhat then.
//
// What deforms folds along any of its edges, however flat it is at rest, and folds cross far from any vertex. With the weight of
// flat edges such crossings carried their loads at gaps of 1e-5 dhat, which took Newton hundreds of iterations. So a pair of edges,
// one of them on a body that deforms, counts for c = 0.02 of the product of their widths at least (two sheets excepted, see below).
// An edge is as wide as its share of the surface, a third of its triangles, over its length; a ridge, or an edge of three triangles
// or more, as if all of its sides were as large as the smallest one, for only some of them face what it touches, and another may be
// a long wall. Two flat layers that lie on each other at random have 2/pi l_e l_f of such crossings for each pair of edges and unit
// of area, which adds 2/pi c, or 1.3 %, to what the points carry, however long or slim the triangles are; where grids of two such
// bodies coincide, all edges of both meet at their vertices, which adds up to 10 %. Where edges are short beside dhat the next
// vertex is not far, and more pairs than those that cross are within dhat: there the weight falls with the product of their
// lengths. What stays as it is folds only where it has a ridge: nearly flat edges of rigid bodies count less.
//
// All edges of a sheet count as sharp, and a pair of them, on two sheets, for c = 0.06 of the product of their widths: a
// two-hundredth of that of their lengths where triangles are equilateral. That adds 2/pi c, or 4 %, at any dhat; the floor of
// dhat^2 would add more than that, also between a sheet and another body.
//
// What is flat and stays so guards nothing. An edge or triangle of another body that touches a plane from one side, and not at its
// own corners, lies in it; so it also touches the plane's triangles with its corners, or the sharp rim where the plane ends. Edges
// that are inside a flat part of a body that stays flat therefore weigh nothing (they would push along the plane as surfaces slide,
// the "internal edges" of Erleben 2018), and vertices there only what the integral needs of them.
class ContactWeights {
 public:
  ContactWeights() = default;
  explicit ContactWeights(const CollisionSurface& surface);

  // Of vertex p against anything of another body (or of its own). Here and below `surface` is that of the constructor.
  double Point(const CollisionSurface& surface, int32_t p, int32_t other_body) const {
    const size_t pair = static_cast<size_t>(surface.vertex_body[p]) * surface.body_count + other_body;
    if (flat_vertex_[p] && share_[pair] <= kLeastShare) return 0;
    return vertex_area_[p] * share_[pair];
  }
  // Zero where either edge is inside a part that stays flat.
  double EdgePair(const CollisionSurface& surface, int32_t e, int32_t f, double dhat) const;

 private:
  // No side of a pair gets less: a lone vertex of a coarse surface still pushes.
  static constexpr double kLeastShare = 0.02;

  void MeasureVertices(const CollisionSurface& surface);
  void MeasureEdges(const CollisionSurface& surface);
  void ShareBetweenBodies(const CollisionSurface& surface);

  std::vector<double> vertex_area_;   // facing one direction, m^2
  std::vector<double> sharpness_;     // of edges, 1 from a right angle or a border on; 0: inside a part that stays flat
  std::vector<double> fold_width_;    // of edges, m; less where they are nearly flat and stay so
  std::vector<uint8_t> flat_vertex_;  // inside a part that stays flat
  std::vector<double> share_;         // row-major body-by-body: of the first one's points against the second
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_CONTACT_WEIGHTS_H_
