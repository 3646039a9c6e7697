#ifndef EIPC_SIM_CONTACT_NEAREST_FEATURES_H_
#define EIPC_SIM_CONTACT_NEAREST_FEATURES_H_

#include <vector>

#include "sim/contact/contact_set.h"

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
// `hits`: stencils of one point, all with the same dhat and base weight, in any order. Appends the features to `out`, each carried
// by a triangle that has it (vertices reordered), weight = base weight times the coefficient.
void AppendNearestFeatures(const std::vector<ContactStencil>& hits, const std::vector<Vec3>& x, std::vector<ContactStencil>* out);

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_NEAREST_FEATURES_H_
