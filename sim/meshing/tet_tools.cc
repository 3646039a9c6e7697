#include "sim/meshing/tet_tools.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace eipc {
namespace {

// Even permutations of four corners, by which corner they bring to the front.
constexpr int kToFront[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};

Tet Turned(const Tet& t) {
  const int smallest = static_cast<int>(std::min_element(t.begin(), t.end()) - t.begin());
  const int* p = kToFront[smallest];
  Tet turned = {t[p[0]], t[p[1]], t[p[2]], t[p[3]]};
  while (turned[1] > turned[2] || turned[1] > turned[3]) turned = {turned[0], turned[2], turned[3], turned[1]};
  return turned;
}

}  // namespace

void SortMesh(std::vector<Vec3>* vertices, std::vector<Tet>* tets) {
  std::vector<int32_t> used;
  for (const Tet& t : *tets) used.insert(used.end(), t.begin(), t.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::sort(used.begin(), used.end(), [&](int32_t i, int32_t j) {
    const Vec3 &a = (*vertices)[i], &b = (*vertices)[j];
    return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
  });
  std::vector<Vec3> sorted;
  std::vector<int32_t> new_index(vertices->size(), -1);
  for (const int32_t v : used) {
    new_index[v] = static_cast<int32_t>(sorted.size());
    sorted.push_back((*vertices)[v]);
  }
  for (Tet& t : *tets) t = Turned({new_index[t[0]], new_index[t[1]], new_index[t[2]], new_index[t[3]]});
  std::sort(tets->begin(), tets->end());
  *vertices = std::move(sorted);
}

DihedralRange Dihedrals(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3* p[4] = {&a, &b, &c, &d};
  Vec3 inward[4];  // unit normals of the faces opposite each corner
  for (int i = 0; i < 4; ++i) {
    const Vec3 &q = *p[(i + 1) % 4], &r = *p[(i + 2) % 4], &s = *p[(i + 3) % 4];
    inward[i] = (r - q).cross(s - q).normalized();
    if (inward[i].dot(*p[i] - q) < 0) inward[i] = -inward[i];
  }
  DihedralRange range;
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      const double angle = std::acos(std::clamp(-inward[i].dot(inward[j]), -1.0, 1.0)) * 180 / std::numbers::pi;
      range.min_deg = std::min(range.min_deg, angle);
      range.max_deg = std::max(range.max_deg, angle);
    }
  }
  return range;
}

DihedralRange Dihedrals(const std::vector<Vec3>& vertices, const std::vector<Tet>& tets) {
  DihedralRange all;
  for (const Tet& t : tets) {
    const DihedralRange one = Dihedrals(vertices[t[0]], vertices[t[1]], vertices[t[2]], vertices[t[3]]);
    all.min_deg = std::min(all.min_deg, one.min_deg);
    all.max_deg = std::max(all.max_deg, one.max_deg);
  }
  return all;
}

}  // namespace eipc
