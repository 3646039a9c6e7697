#ifndef EIPC_SIM_COLLISION_BODY_PAIR_H_
#define EIPC_SIM_COLLISION_BODY_PAIR_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/collision/candidate.h"
#include "sim/collision/region_width.h"
#include "sim/geometry/wide_box.h"

namespace eipc {

// What a search finds of a pair of bodies.
struct PairLists {
  std::vector<Candidate> candidates;
  std::vector<std::pair<int32_t, int32_t>> triangle_pairs;
  std::vector<double> triangle_gaps;  // of their boxes along the axis where it is largest, at the anchors, m
  std::vector<std::pair<int32_t, int32_t>> neighbour_pairs;

  // How much there is of each.
  struct Extent {
    size_t candidates = 0, triangle_pairs = 0, neighbour_pairs = 0;
  };
  Extent extent() const { return {candidates.size(), triangle_pairs.size(), neighbour_pairs.size()}; }
  void Clear();
  // What was added to `more` between two of its extents.
  void Append(const PairLists& more, const Extent& from, const Extent& to);
};

// Two bodies, or one with itself: what may come near of them while both stay in their regions, and the vector from the centroid of
// a to that of b in its own.
struct BodyPair {
  int32_t a = 0;
  int32_t b = 0;
  uint64_t stamp_a = 0, stamp_b = 0, shape_stamp = 0;  // regions that the lists are for
  WidthWatch width;                                    // of the region of the shift
  WideBox shifts;                                      // region of the vector from the centroid of a to that of b
  Vec3 shift = Vec3::Zero();                           // a point of it, m
  Vec3 anchor_shift = Vec3::Zero();                    // at the anchors, m
  uint64_t anchor_a = 0, anchor_b = 0;                 // anchors that bounds are for; 0: none yet
  PairLists found;
  // Of candidates and of triangle pairs, each once.
  struct Vertices {
    std::vector<int32_t> of_candidates, of_triangles;
  };
  Vertices vertices;
  int64_t node_pairs = 0;  // of the trees, that the last search examined
  // Of candidates: the smallest dhat, m; infinity: there is none.
  double least_dhat = std::numeric_limits<double>::infinity();
  // Where the candidates are among those of all pairs: index of the first of them, and of this pair; list < 0: not yet.
  struct Place {
    size_t first = 0;
    int32_t list = -1;
  };
  Place place;
  // Of the candidates, by index here: those that may be active where the pair is displaced from its anchors by at most `within` m;
  // < 0: not of these candidates and anchors.
  struct Near {
    std::vector<int32_t> candidates, vertices;
    double within = -1;
  };
  Near near;

  bool of_one_body() const { return a == b; }
  // Becomes a new pair of these bodies that keeps the capacity of its vectors.
  void StartAnew(int32_t body_a, int32_t body_b);
  void Clear();
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_BODY_PAIR_H_
