#include "tests/support/meshes.h"

#include "sim/mesh/tet_mesh.h"

namespace eipc::testing {

MeshData BoxTetGrid(const Vec3& low, const Vec3& high, const std::array<int, 3>& cells) {
  MeshData mesh;
  const int mx = cells[0] + 1, my = cells[1] + 1, mz = cells[2] + 1;
  const Vec3 cell = (high - low).cwiseQuotient(Vec3(cells[0], cells[1], cells[2]));
  for (int k = 0; k < mz; ++k) {
    for (int j = 0; j < my; ++j) {
      for (int i = 0; i < mx; ++i) mesh.vertices.push_back(low + cell.cwiseProduct(Vec3(i, j, k)));
    }
  }
  // Paths from the lowest corner to the highest, one axis after another; odd permutations are turned to keep volumes positive.
  constexpr int kAxes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const std::array<int, 3> stride = {1, mx, mx * my};
  for (int k = 0; k < cells[2]; ++k) {
    for (int j = 0; j < cells[1]; ++j) {
      for (int i = 0; i < cells[0]; ++i) {
        for (int p = 0; p < 6; ++p) {
          const int32_t a = i + mx * (j + my * k), b = a + stride[kAxes[p][0]], c = b + stride[kAxes[p][1]],
                        d = c + stride[kAxes[p][2]];
          mesh.tets.push_back(p < 3 ? Tet{a, b, c, d} : Tet{a, c, b, d});
        }
      }
    }
  }
  return mesh;
}

MeshData BoxSurfaceGrid(const Vec3& low, const Vec3& high, const std::array<int, 3>& cells) {
  const MeshData solid = BoxTetGrid(low, high, cells);
  MeshData out;
  out.triangles = TetMesh::Create(solid.vertices, solid.tets)->BoundaryTriangles();
  std::vector<int32_t> index(solid.vertices.size(), -1);
  for (Triangle& t : out.triangles) {
    for (int32_t& v : t) {
      if (index[v] < 0) {
        index[v] = static_cast<int32_t>(out.vertices.size());
        out.vertices.push_back(solid.vertices[v]);
      }
      v = index[v];
    }
  }
  return out;
}

MeshData Sheet(double half, double height, int cells) {
  MeshData mesh;
  const int m = cells + 1;
  for (int j = 0; j < m; ++j) {
    for (int i = 0; i < m; ++i) mesh.vertices.emplace_back(-half + 2 * half * i / cells, -half + 2 * half * j / cells, height);
  }
  for (int j = 0; j < cells; ++j) {
    for (int i = 0; i < cells; ++i) {
      const int32_t a = i + m * j, b = a + 1, c = a + m, d = c + 1;
      mesh.triangles.push_back({a, b, d});
      mesh.triangles.push_back({a, d, c});
    }
  }
  return mesh;
}

double SurfaceArea(const MeshData& mesh) {
  double area = 0;
  for (const Triangle& t : mesh.triangles) {
    area += 0.5 * (mesh.vertices[t[1]] - mesh.vertices[t[0]]).cross(mesh.vertices[t[2]] - mesh.vertices[t[0]]).norm();
  }
  return area;
}

}  // namespace eipc::testing
