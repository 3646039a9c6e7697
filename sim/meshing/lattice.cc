#include "sim/meshing/lattice.h"

#include <array>
#include <cmath>
#include <map>

#include "sim/meshing/tet_tools.h"

namespace eipc {
namespace {

constexpr int kSplits = 4;

// Whether the tet comes nearer to the solid than `margin`, by halving its longest edge `splits` times; may say yes when it does
// not.
bool MayReach(const TriangleTree& solid, const std::array<Vec3, 4>& corner, double margin, int splits) {
  const Vec3 center = (corner[0] + corner[1] + corner[2] + corner[3]) / 4;
  double radius = 0;
  for (const Vec3& p : corner) radius = std::max(radius, (p - center).norm());
  const double distance = solid.SignedDistance(center);  // changes by at most |x - center|
  if (distance > radius + margin) return false;
  if (distance <= margin || splits == 0) return true;
  int a = 0, b = 1;
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      if ((corner[i] - corner[j]).squaredNorm() > (corner[a] - corner[b]).squaredNorm()) {
        a = i;
        b = j;
      }
    }
  }
  std::array<Vec3, 4> first = corner, second = corner;
  first[a] = second[b] = (corner[a] + corner[b]) / 2;
  return MayReach(solid, first, margin, splits - 1) || MayReach(solid, second, margin, splits - 1);
}

}  // namespace

MeshData LatticeAround(const TriangleTree& solid, const Vec3& low, const Vec3& high, const Vec3& origin, double cell,
                       Interrupt* interrupt) {
  // Twice the lattice coordinates: corners are even, cell centres odd.
  using Key = std::array<int, 3>;
  MeshData mesh;
  std::map<Key, int32_t> index;
  const auto position = [&](const Key& k) -> Vec3 { return origin + cell / 2 * Vec3(k[0], k[1], k[2]); };
  const auto vertex = [&](const Key& k) {
    const auto [entry, is_new] = index.try_emplace(k, static_cast<int32_t>(mesh.vertices.size()));
    if (is_new) mesh.vertices.push_back(position(k));
    return entry->second;
  };
  Key first, last;
  for (int k = 0; k < 3; ++k) {
    first[k] = 2 * static_cast<int>(std::floor((low[k] - origin[k]) / cell)) - 3;
    last[k] = 2 * static_cast<int>(std::ceil((high[k] - origin[k]) / cell)) + 3;
  }
  // Around the axis between two neighbouring cell centres lie the four edges of their shared face: one tet each.
  constexpr int kRing[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (int z = first[2]; z <= last[2]; z += 2) {
    for (int y = first[1]; y <= last[1]; y += 2) {
      for (int x = first[0]; x <= last[0]; x += 2) {
        if (Raised(interrupt)) return mesh;
        for (int axis = 0; axis < 3; ++axis) {
          const Key a = {x, y, z};
          Key b = a;
          b[axis] += 2;
          for (int r = 0; r < 4; ++r) {
            Key c = a, d = a;
            c[axis] += 1, d[axis] += 1;
            c[(axis + 1) % 3] += kRing[r][0], c[(axis + 2) % 3] += kRing[r][1];
            d[(axis + 1) % 3] += kRing[(r + 1) % 4][0], d[(axis + 2) % 3] += kRing[(r + 1) % 4][1];
            if (!MayReach(solid, {position(a), position(b), position(c), position(d)}, 1e-3 * cell, kSplits)) continue;
            mesh.tets.push_back({vertex(a), vertex(b), vertex(c), vertex(d)});
          }
        }
      }
    }
  }
  SortMesh(&mesh.vertices, &mesh.tets);
  return mesh;
}

}  // namespace eipc
