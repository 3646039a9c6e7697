#include "sim/meshing/static_stiffness.h"

#include <Eigen/Cholesky>

#include "sim/base/eigen_copies.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/embed_vertices.h"
#include "sim/meshing/interruptible_algebra.h"

namespace eipc {
namespace {

// Holds the rigid motions, which self-equilibrated loads do not excite, as a share of the mean stiffness.
constexpr double kRigidShare = 1e-8;

// J^T f, three rows a node.
VecX NodeForces(const std::vector<EmbeddingRow>& embedding, const SurfaceLoad& load, size_t nodes) {
  VecX f = VecX::Zero(static_cast<Eigen::Index>(3 * nodes));
  for (size_t v = 0; v < load.size(); ++v) {
    const EmbeddingRow& row = embedding[v];
    for (int k = 0; k < row.count; ++k) f.segment<3>(3 * row.nodes[k]) += row.weights[k] * load[v];
  }
  return f;
}

}  // namespace

absl::StatusOr<StaticBody> StaticBody::Create(const TetMesh& cage, const SurfaceMesh& surface, Interrupt* interrupt) {
  StaticBody body;
  EIPC_ASSIGN_OR_RETURN(body.embedding_, EmbedVertices(cage, surface.vertices(), interrupt));
  EIPC_ASSIGN_OR_RETURN(body.model_, WeighedBySolid(cage, surface, interrupt));
  return body;
}

absl::StatusOr<std::vector<double>> StaticBody::Compliances(const std::vector<SurfaceLoad>& loads, double nu,
                                                            Interrupt* interrupt) const {
  Eigen::SparseMatrix<double> stiffness =
      LinearStiffness(model_.mesh, model_.volume, nu / ((1 + nu) * (1 - 2 * nu)), 0.5 / (1 + nu));
  const double shift = kRigidShare * stiffness.diagonal().sum() / static_cast<double>(stiffness.rows());
  for (Eigen::Index i = 0; i < stiffness.rows(); ++i) stiffness.coeffRef(i, i) += shift;
  InterruptibleLdlt solver;
  EIPC_RETURN_IF_ERROR(solver.Factor(stiffness, interrupt));
  if (solver.info() != Eigen::Success) return absl::InternalError("the stiffness matrix could not be factored");
  std::vector<double> compliances;
  for (const SurfaceLoad& load : loads) {
    EIPC_RETURN_IF_ERROR(Poll(interrupt));
    const VecX f = NodeForces(embedding_, load, model_.mesh.vertices().size());
    const VecX u = solver.solve(f);
    compliances.push_back(f.dot(u));
  }
  return compliances;
}

absl::StatusOr<std::vector<double>> CondensedCompliances(const CondensedStiffness& condensed, const Embedding& embedding,
                                                         const std::vector<SurfaceLoad>& loads) {
  Eigen::MatrixXd stiffness = SmallStrainStiffness(condensed);
  stiffness.diagonal().array() += kRigidShare * stiffness.trace() / static_cast<double>(stiffness.rows());
  const Eigen::LDLT<Eigen::MatrixXd> solver(stiffness);
  if (solver.info() != Eigen::Success) return absl::InternalError("the condensed stiffness could not be factored");
  std::vector<double> compliances;
  for (const SurfaceLoad& load : loads) {
    const VecX f = NodeForces(embedding.rows(), load, condensed.vertices());
    compliances.push_back(f.dot(solver.solve(f)));
  }
  return compliances;
}

}  // namespace eipc
