#include "models/cells.h"

#include <utility>

namespace eipc {

void AddCell(const std::array<int32_t, 8>& corner, bool even, MeshData* mesh) {
  constexpr std::array<Tet, 5> kEven = {{{0, 3, 5, 6}, {0, 1, 3, 5}, {0, 3, 2, 6}, {0, 5, 4, 6}, {3, 5, 7, 6}}};
  constexpr std::array<Tet, 5> kOdd = {{{1, 2, 4, 7}, {1, 0, 2, 4}, {1, 2, 3, 7}, {1, 4, 5, 7}, {2, 6, 4, 7}}};
  const auto& v = mesh->vertices;
  for (const Tet& local : even ? kEven : kOdd) {
    Tet t = {corner[local[0]], corner[local[1]], corner[local[2]], corner[local[3]]};
    if ((v[t[1]] - v[t[0]]).cross(v[t[2]] - v[t[0]]).dot(v[t[3]] - v[t[0]]) < 0) std::swap(t[2], t[3]);
    mesh->tets.push_back(t);
  }
}

}  // namespace eipc
