#ifndef EIPC_TESTS_SIM_MESH_SHAPES_H_
#define EIPC_TESTS_SIM_MESH_SHAPES_H_

// Small meshes with known answers, shared by the tests of meshes, cages and audits.

#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sim/base/types.h"
#include "sim/mesh/mesh_data.h"

namespace eipc::testing {

// Axis-aligned box as 12 outward triangles.
inline MeshData BoxSurface(const Vec3& low, const Vec3& high) {
  MeshData mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.emplace_back(i & 1 ? high.x() : low.x(), i & 2 ? high.y() : low.y(), i & 4 ? high.z() : low.z());
  }
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return mesh;
}

// n x n x n cells of [low, high], each cut into six tets around its main diagonal: vertex (i, j, k) is i + (n+1)(j + (n+1)k).
inline MeshData BoxTets(const Vec3& low, const Vec3& high, int n) {
  MeshData mesh;
  const int m = n + 1;
  for (int k = 0; k < m; ++k) {
    for (int j = 0; j < m; ++j) {
      for (int i = 0; i < m; ++i) {
        mesh.vertices.push_back(low + (high - low).cwiseProduct(Vec3(i, j, k)) / n);
      }
    }
  }
  constexpr int kAxes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const std::array<int, 3> stride = {1, m, m * m};
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        for (int p = 0; p < 6; ++p) {
          const int32_t a = i + m * (j + m * k), b = a + stride[kAxes[p][0]], c = b + stride[kAxes[p][1]],
                        d = c + stride[kAxes[p][2]];
          if (p < 3) mesh.tets.push_back({a, b, c, d});
          if (p >= 3) mesh.tets.push_back({a, c, b, d});
        }
      }
    }
  }
  return mesh;
}

// Icosahedron refined `levels` times, vertices pushed onto the sphere: 20 * 4^levels triangles.
inline MeshData Sphere(const Vec3& center, double radius, int levels) {
  MeshData mesh;
  const double g = (1 + std::sqrt(5.0)) / 2;
  for (const Vec3& p : {Vec3(-1, g, 0), Vec3(1, g, 0), Vec3(-1, -g, 0), Vec3(1, -g, 0), Vec3(0, -1, g), Vec3(0, 1, g),
                        Vec3(0, -1, -g), Vec3(0, 1, -g), Vec3(g, 0, -1), Vec3(g, 0, 1), Vec3(-g, 0, -1), Vec3(-g, 0, 1)}) {
    mesh.vertices.push_back(p.normalized());
  }
  mesh.triangles = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<int32_t, int32_t>, int32_t> middle;
    const auto mid = [&](int32_t a, int32_t b) {
      const auto [entry, is_new] = middle.try_emplace(std::minmax(a, b), static_cast<int32_t>(mesh.vertices.size()));
      if (is_new) mesh.vertices.push_back((mesh.vertices[a] + mesh.vertices[b]).normalized());
      return entry->second;
    };
    std::vector<Triangle> finer;
    for (const Triangle& t : mesh.triangles) {
      const int32_t ab = mid(t[0], t[1]), bc = mid(t[1], t[2]), ca = mid(t[2], t[0]);
      finer.insert(finer.end(), {{t[0], ab, ca}, {ab, t[1], bc}, {ca, bc, t[2]}, {ab, bc, ca}});
    }
    mesh.triangles = std::move(finer);
  }
  for (Vec3& p : mesh.vertices) p = center + radius * p;
  return mesh;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_MESH_SHAPES_H_
