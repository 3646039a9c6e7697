#ifndef EIPC_SIM_CONTACT_NEAREST_FEATURES_H_
#define EIPC_SIM_CONTACT_NEAREST_FEATURES_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/contact/contact_stencil.h"

namespace eipc {

// Replaces the pairs of a point with all triangles within dhat by the features that count, so that a point above a mesh is pushed
// as by one plane, not by every triangle around.
//
// The barrier of a point p against a mesh is the alternating sum over its cells of Li et al. 2023 ("Convergent Incremental
// Potential Contact", section 4.2), here written for any part K of a mesh:
//     B(p) = sum over triangles b(d_t) - sum over edges (m_e - 1) b(d_e) + sum over vertices (1 - n_v + sum over e at v (m_e - 1))
//            b(d_v),
// m_e and n_v the number of K's triangles at an edge and a vertex. Each distance is that to a convex set, so B is C1 wherever p
// does not touch, and stays so while p slides across edges: where triangles lie flat or convex all terms but one cancel, and in a
// crease each wall pushes on its own. The cells that contain any one point of K sum to 1: whatever p comes to touch, B grows as
// b(d) does, and touching stays impossible.
//
// What cancels is found, not computed: a cell whose nearest point lies on a smaller cell's inside has that cell's distance, so
// coefficients are summed by the feature that is nearest, and features whose sum is 0 are dropped. What remains is mostly one
// feature a point, with coefficient 1. A negative coefficient remains in creases only.
//
// Keeps its vectors from one point to the next.
class NearestFeatures {
 public:
  // `hits`: stencils of one point, all with the same dhat and base weight, in any order. Appends the features to `out`, each
  // carried by a triangle that has it (vertices reordered), weight = base weight times the coefficient.
  void Append(const std::vector<ContactStencil>& hits, const std::vector<Vec3>& x, std::vector<ContactStencil>* out);

 private:
  // Up to three vertices, sorted, -1 where there are fewer.
  using Name = std::array<int32_t, 3>;
  struct Feature {
    Name name;
    int32_t order;  // of `stencils_`
    int coefficient;
  };
  // An edge (a < b) or a vertex (a = b) of a triangle of K, and that triangle's other vertices.
  struct Cell {
    int32_t a, b;
    int32_t order;  // of the cells
    std::array<int32_t, 2> others;
  };

  static Name NameOf(const ContactStencil& s);
  static void Sort(std::vector<Cell>* cells);
  void AddTriangles(const std::vector<ContactStencil>& hits);
  void AddEdges(const std::vector<Vec3>& x);
  void AddVertices(const std::vector<Vec3>& x);
  void Add(const std::array<int32_t, 4>& v, const ClosestPoints& closest, int coefficient);
  void Keep(std::vector<ContactStencil>* out);

  std::vector<ContactStencil> stencils_;  // the hits, then what is found
  std::vector<Feature> features_, kept_;
  std::vector<Cell> edges_, vertices_;
  std::vector<std::pair<int32_t, int>> at_vertex_;  // vertex and m_e - 1 of an edge there
};

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_NEAREST_FEATURES_H_
