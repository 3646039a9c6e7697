#include "sim/meshing/fine_model.h"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/base/status_macros.h"
#include "sim/mesh/cage_integrals.h"
#include "sim/meshing/lattice.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {
namespace {

// As sim/scene keeps it: no tet loses all stiffness.
constexpr double kLeastElasticShare = 1e-3;
constexpr int kReferenceVertices = 800;
constexpr int kMostReferenceVertices = 8000;
// Half the size of a cage's tetrahedra.
constexpr int kFinerBy = 8;

}  // namespace

absl::StatusOr<TetMesh> ReferenceLattice(const SurfaceMesh& surface, int vertices, Interrupt* interrupt) {
  const TriangleTree tree(surface.vertices(), surface.triangles());
  Vec3 low = surface.vertices()[0], high = low;
  for (const Vec3& p : surface.vertices()) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  double cell = (high - low).norm() / 4;
  MeshData lattice;
  for (int step = 0; step < 20; ++step) {
    lattice = LatticeAround(tree, low, high, (low + high) / 2, cell, interrupt);
    EIPC_RETURN_IF_ERROR(Poll(interrupt));
    const double count = static_cast<double>(lattice.vertices.size());
    if (count > 0.8 * vertices) break;
    cell *= std::clamp(std::cbrt(count / vertices), 0.5, 0.95);
  }
  return TetMesh::Create(std::move(lattice.vertices), std::move(lattice.tets));
}

absl::StatusOr<FineModel> WeighedBySolid(TetMesh mesh, const SurfaceMesh& surface, Interrupt* interrupt) {
  EIPC_ASSIGN_OR_RETURN(CageIntegrals integrals, IntegrateSolidOverCage(mesh, surface, interrupt));
  FineModel out = {std::move(mesh), std::move(integrals.elastic_volume)};
  for (size_t t = 0; t < out.volume.size(); ++t)
    out.volume[t] = std::max(out.volume[t], kLeastElasticShare * out.mesh.Volume(static_cast<int>(t)));
  return out;
}

int LatticeFor(const TetMesh& cage) {
  const int finer = kFinerBy * static_cast<int>(std::min<size_t>(cage.vertices().size(), kMostReferenceVertices));
  return std::clamp(finer, kReferenceVertices, kMostReferenceVertices);
}

Eigen::SparseMatrix<double> LinearStiffness(const TetMesh& mesh, const std::vector<double>& volume, double lambda, double mu) {
  std::vector<Eigen::Triplet<double>> entries;
  for (size_t t = 0; t < mesh.tets().size(); ++t) {
    const Tet& tet = mesh.tets()[t];
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = mesh.vertices()[tet[k + 1]] - mesh.vertices()[tet[0]];
    const Mat3 inverse = edges.inverse();
    std::array<Vec3, 4> g;
    for (int k = 0; k < 3; ++k) g[k + 1] = inverse.row(k);
    g[0] = -(g[1] + g[2] + g[3]);
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const Mat3 block =
            volume[t] * (lambda * g[a] * g[b].transpose() + mu * (g[b] * g[a].transpose() + g[a].dot(g[b]) * Mat3::Identity()));
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) entries.emplace_back(3 * tet[a] + i, 3 * tet[b] + j, block(i, j));
        }
      }
    }
  }
  const auto n = static_cast<Eigen::Index>(3 * mesh.vertices().size());
  Eigen::SparseMatrix<double> k(n, n);
  k.setFromTriplets(entries.begin(), entries.end());
  return k;
}

}  // namespace eipc
