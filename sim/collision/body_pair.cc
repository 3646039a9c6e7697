#include "sim/collision/body_pair.h"

namespace eipc {

void BodyPair::StartAnew(int32_t body_a, int32_t body_b) {
  BodyPair pair;
  pair.a = body_a;
  pair.b = body_b;
  pair.candidates.swap(candidates);
  pair.triangle_pairs.swap(triangle_pairs);
  pair.triangle_gaps.swap(triangle_gaps);
  pair.neighbour_pairs.swap(neighbour_pairs);
  *this = std::move(pair);
  Clear();
}

void BodyPair::Clear() {
  candidates.clear();
  triangle_pairs.clear();
  triangle_gaps.clear();
  neighbour_pairs.clear();
}

}  // namespace eipc
