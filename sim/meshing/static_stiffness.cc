#include "sim/meshing/static_stiffness.h"

#include <Eigen/SparseCholesky>

#include "sim/base/status_macros.h"
#include "sim/mesh/embedding.h"

namespace eipc {
namespace {

// Holds the rigid motions, which self-equilibrated loads do not excite, as a share of the mean stiffness.
constexpr double kRigidShare = 1e-8;

}  // namespace

absl::StatusOr<StaticBody> StaticBody::Create(const TetMesh& cage, const SurfaceMesh& surface) {
  StaticBody body;
  EIPC_ASSIGN_OR_RETURN(body.embedding_, Embedding::Create(cage, surface.vertices()));
  EIPC_ASSIGN_OR_RETURN(body.model_, WeighedBySolid(cage, surface));
  return body;
}

absl::StatusOr<std::vector<double>> StaticBody::Compliances(const std::vector<SurfaceLoad>& loads, double nu) const {
  Eigen::SparseMatrix<double> stiffness =
      LinearStiffness(model_.mesh, model_.volume, nu / ((1 + nu) * (1 - 2 * nu)), 0.5 / (1 + nu));
  const double shift = kRigidShare * stiffness.diagonal().sum() / static_cast<double>(stiffness.rows());
  for (Eigen::Index i = 0; i < stiffness.rows(); ++i) stiffness.coeffRef(i, i) += shift;
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(stiffness);
  if (solver.info() != Eigen::Success) return absl::InternalError("the stiffness matrix could not be factored");
  std::vector<double> compliances;
  for (const SurfaceLoad& load : loads) {
    VecX f = VecX::Zero(static_cast<Eigen::Index>(3 * model_.mesh.vertices().size()));
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
