#include "sim/energy/inverted_elements.h"

#include <algorithm>

namespace eipc {

int64_t InvertedElements(const ElasticBody& body, const VecX& q) {
  return std::count_if(body.nodes.begin(), body.nodes.end(), [&q](const Tet& t) {
    const Vec3 x0 = q.segment<3>(3 * t[0]);
    const Vec3 a = q.segment<3>(3 * t[1]) - x0, b = q.segment<3>(3 * t[2]) - x0, c = q.segment<3>(3 * t[3]) - x0;
    return !(a.dot(b.cross(c)) > 0);
  });
}

}  // namespace eipc
