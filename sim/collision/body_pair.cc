#include "sim/collision/body_pair.h"

#include <utility>

namespace eipc {

void PairLists::Clear() {
  candidates.clear();
  triangle_pairs.clear();
  triangle_gaps.clear();
  neighbour_pairs.clear();
}

void PairLists::Append(const PairLists& more, const Extent& from, const Extent& to) {
  const auto append = [](const auto& list, size_t first, size_t last, auto* out) {
    out->insert(out->end(), list.begin() + static_cast<std::ptrdiff_t>(first), list.begin() + static_cast<std::ptrdiff_t>(last));
  };
  append(more.candidates, from.candidates, to.candidates, &candidates);
  append(more.triangle_pairs, from.triangle_pairs, to.triangle_pairs, &triangle_pairs);
  append(more.triangle_gaps, from.triangle_pairs, to.triangle_pairs, &triangle_gaps);
  append(more.neighbour_pairs, from.neighbour_pairs, to.neighbour_pairs, &neighbour_pairs);
}

void BodyPair::StartAnew(int32_t body_a, int32_t body_b) {
  BodyPair pair;
  pair.a = body_a;
  pair.b = body_b;
  std::swap(pair.found, found);
  std::swap(pair.vertices, vertices);
  std::swap(pair.near, near);
  *this = std::move(pair);
  Clear();
}

void BodyPair::Clear() {
  found.Clear();
  vertices.of_candidates.clear();
  vertices.of_triangles.clear();
  place.list = -1;
  near.within = -1;
}

}  // namespace eipc
