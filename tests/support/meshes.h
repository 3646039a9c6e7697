#ifndef EIPC_TESTS_SUPPORT_MESHES_H_
#define EIPC_TESTS_SUPPORT_MESHES_H_

// Procedural meshes with counts that a test chooses. tests/sim/mesh/shapes.h has the single box, the cubic grid and the sphere.

#include <array>
#include <vector>

#include "sim/mesh/mesh_data.h"

namespace eipc::testing {

// cells[0] x cells[1] x cells[2] boxes of [low, high], each cut into six tets around its main diagonal:
// vertex (i, j, k) is i + (cells[0] + 1) (j + (cells[1] + 1) k).
MeshData BoxTetGrid(const Vec3& low, const Vec3& high, const std::array<int, 3>& cells);

// The same box as the six faces of a closed surface only, triangulated by the grid.
MeshData BoxSurfaceGrid(const Vec3& low, const Vec3& high, const std::array<int, 3>& cells);

// Square sheet of side 2 half around (0, 0, height), cells x cells quads of two triangles, normals up. Open.
MeshData Sheet(double half, double height, int cells);

// Sum of the areas of the triangles, m^2.
double SurfaceArea(const MeshData& mesh);

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_MESHES_H_
