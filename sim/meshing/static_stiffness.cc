#include "sim/meshing/static_stiffness.h"

#include <Eigen/SparseCholesky>
#include <algorithm>

#include "sim/base/status_macros.h"
#include "sim/mesh/cage_integrals.h"
#include "sim/mesh/embedding.h"

namespace eipc {
namespace {

// As sim/scene keeps it: no tet loses all stiffness.
constexpr double kLeastElasticShare = 1e-3;
// Holds the rigid motions, which self-equilibrated loads do not excite, as a share of the mean stiffness.
constexpr double kRigidShare = 1e-8;

using Sparse = Eigen::SparseMatrix<double>;

// V (lambda g_a g_b^T + mu (g_b g_a^T + (g_a . g_b) I)) for the pair (a, b).
Sparse Stiffness(const TetMesh& cage, const std::vector<double>& volume, double lambda, double mu) {
  std::vector<Eigen::Triplet<double>> entries;
  for (size_t t = 0; t < cage.tets().size(); ++t) {
    const Tet& tet = cage.tets()[t];
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = cage.vertices()[tet[k + 1]] - cage.vertices()[tet[0]];
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
  const auto n = static_cast<Eigen::Index>(3 * cage.vertices().size());
  Sparse k(n, n);
  k.setFromTriplets(entries.begin(), entries.end());
  const double shift = kRigidShare * k.diagonal().sum() / static_cast<double>(n);
  for (Eigen::Index i = 0; i < n; ++i) k.coeffRef(i, i) += shift;
  return k;
}

}  // namespace

absl::StatusOr<StaticBody> StaticBody::Create(const TetMesh& cage, const SurfaceMesh& surface) {
  StaticBody body;
  EIPC_ASSIGN_OR_RETURN(body.embedding_, Embedding::Create(cage, surface.vertices()));
  EIPC_ASSIGN_OR_RETURN(const CageIntegrals integrals, IntegrateSolidOverCage(cage, surface));
  body.cage_ = cage;
  body.volume_ = integrals.elastic_volume;
  for (size_t t = 0; t < body.volume_.size(); ++t)
    body.volume_[t] = std::max(body.volume_[t], kLeastElasticShare * cage.Volume(static_cast<int>(t)));
  return body;
}

absl::StatusOr<std::vector<double>> StaticBody::Compliances(const std::vector<SurfaceLoad>& loads, double nu) const {
  const Eigen::SimplicialLDLT<Sparse> solver(Stiffness(cage_, volume_, nu / ((1 + nu) * (1 - 2 * nu)), 0.5 / (1 + nu)));
  if (solver.info() != Eigen::Success) return absl::InternalError("the stiffness matrix could not be factored");
  std::vector<double> compliances;
  for (const SurfaceLoad& load : loads) {
    VecX f = VecX::Zero(static_cast<Eigen::Index>(3 * cage_.vertices().size()));
    for (size_t v = 0; v < load.size(); ++v) {
      const EmbeddingRow& row = embedding_.rows()[v];
      for (int k = 0; k < row.count; ++k) f.segment<3>(3 * row.nodes[k]) += row.weights[k] * load[v];
    }
    const VecX u = solver.solve(f);
    compliances.push_back(f.dot(u));
  }
  return compliances;
}

}  // namespace eipc
