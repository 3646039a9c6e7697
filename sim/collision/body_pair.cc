#include "sim/collision/body_pair.h"

#include <utility>

namespace eipc {

void BodyPair::StartAnew(int32_t body_a, int32_t body_b) {
  BodyPair pair;
  pair.a = body_a;
  pair.b = body_b;
  pair.candidates.swap(candidates);
  std::swap(pair.vertices, vertices);
  std::swap(pair.near, near);
  pair.triangle_pairs.swap(triangle_pairs);
  pair.triangle_gaps.swap(triangle_gaps);
  pair.neighbour_pairs.swap(neighbour_pairs);
  *this = std::move(pair);
  Clear();
}

void BodyPair::Clear() {
  candidates.clear();
  vertices.of_candidates.clear();
  vertices.of_triangles.clear();
  place.list = -1;
  near.within = -1;
  triangle_pairs.clear();
  triangle_gaps.clear();
  neighbour_pairs.clear();
}

}  // namespace eipc
