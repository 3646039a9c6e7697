#include "sim/meshing/condense.h"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/base/eigen_copies.h"
#include "sim/base/status_macros.h"
#include "sim/meshing/cage_quality.h"
#include "sim/meshing/fine_clusters.h"
#include "sim/meshing/fine_model.h"
#include "sim/meshing/interruptible_algebra.h"
#include "sim/meshing/solid_samples.h"

namespace eipc {
namespace {

using MatX = Eigen::MatrixXd;
using Sparse = Eigen::SparseMatrix<double>;

constexpr int kTetsOfCluster = 3;  // of the cage, at least
constexpr size_t kFinerOwn = 2;    // vertices of the object's own tetrahedra over the cage's, at least
// Of L, as a share of the object's mass.
constexpr double kSmoothing = 1e-6;
// Of the compliance of the cage itself, which is added to that of the object: without it cage vertices that no solid surrounds,
// whose place P takes from their neighbours alone, would have no compliance at all.
constexpr double kCageShare = 1e-7;
constexpr double kMostProjectionError = 1e-4;  // of all cage displacements together
constexpr size_t kSamplesAPoll = 64;
// Holds the rigid motions while the fine stiffness is factored, as a share of its mean; they are solved for apart.
constexpr double kRigidShare = 1e-10;

// Positions x -> the six infinitesimal rigid motions of them, 3 rows a point.
MatX RigidMotions(const std::vector<Vec3>& x) {
  MatX modes(3 * x.size(), 6);
  for (size_t k = 0; k < x.size(); ++k) {
    modes.block<3, 3>(3 * static_cast<Eigen::Index>(k), 0).setIdentity();
    for (int m = 0; m < 3; ++m) modes.block<3, 1>(3 * static_cast<Eigen::Index>(k), 3 + m) = Vec3::Unit(m).cross(x[k]);
  }
  return modes;
}

// L: the squared differences of the gradients of neighbouring tetrahedra.
absl::Status AddSmoothing(const Located& cage, double scale, Interrupt* interrupt, MatX* gram) {
  std::map<std::array<int32_t, 3>, std::vector<size_t>> faces;
  for (size_t t = 0; t < cage.mesh->tets().size(); ++t) {
    for (int a = 0; a < 4; ++a) {
      const Tet& tet = cage.mesh->tets()[t];
      std::array<int32_t, 3> face = {tet[(a + 1) % 4], tet[(a + 2) % 4], tet[(a + 3) % 4]};
      std::sort(face.begin(), face.end());
      faces[face].push_back(t);
    }
  }
  for (const auto& [face, tets] : faces) {
    if (tets.size() != 2) continue;
    EIPC_RETURN_IF_ERROR(Poll(interrupt));
    MatX jump = MatX::Zero(3, gram->cols());
    for (int side = 0; side < 2; ++side) {
      const std::array<Vec3, 4> g = cage.Gradients(tets[side]);
      for (int a = 0; a < 4; ++a) jump.col(cage.mesh->tets()[tets[side]][a]) += (side == 0 ? 1 : -1) * g[a];
    }
    const double size = std::cbrt(cage.mesh->Volume(static_cast<int>(tets[0])) + cage.mesh->Volume(static_cast<int>(tets[1])));
    *gram += scale * size * size * jump.transpose() * jump;
  }
  return absl::OkStatus();
}

// Rows by which the energy density of linear elasticity is half the square of: strain in seven numbers.
void StrainRows(const std::array<Vec3, 4>& g, double volume, double bulk, double shear, Eigen::Matrix<double, 7, 12>* rows) {
  rows->setZero();
  for (int a = 0; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) (*rows)(i, 3 * a + j) = std::sqrt(2 * shear) * ((i == j ? g[a][i] : 0) - g[a][j] / 3);
      const int j = (i + 1) % 3;
      (*rows)(3 + i, 3 * a + i) = std::sqrt(shear) * g[a][j];
      (*rows)(3 + i, 3 * a + j) = std::sqrt(shear) * g[a][i];
      (*rows)(6, 3 * a + i) = std::sqrt(bulk) * g[a][i];
    }
  }
  *rows *= std::sqrt(volume);
}

// CondensedStiffness::Cluster::strain of one tetrahedron.
Eigen::Matrix<double, 6, 12> Strain(const std::array<Vec3, 4>& g) {
  Eigen::Matrix<double, 6, 12> out = Eigen::Matrix<double, 6, 12>::Zero();
  for (int a = 0; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      out(i, 3 * a + i) = g[a][i];
      out(3 + i, 3 * a + i) = std::sqrt(0.5) * g[a][j];
      out(3 + i, 3 * a + j) = std::sqrt(0.5) * g[a][i];
    }
  }
  return out;
}

class Condenser {
 public:
  Condenser(const TetMesh& cage, const FineModel& fine, std::vector<SolidSample> samples, const ElasticModuli& moduli,
            Interrupt* interrupt)
      : cage_(&cage), fine_(fine), located_(&fine.mesh), samples_(std::move(samples)), interrupt_(interrupt) {
    const double nu = moduli.poissons_ratio;
    shear_ = moduli.youngs_modulus_pa / (2 * (1 + nu));
    bulk_ = moduli.youngs_modulus_pa / (3 * (1 - 2 * nu));
  }

  absl::StatusOr<CondensedStiffness> Make(int clusters, int parts) {
    EIPC_RETURN_IF_ERROR(FindSamples());
    EIPC_RETURN_IF_ERROR(FindProjection());
    EIPC_RETURN_IF_ERROR(FindFields());
    CondensedStiffness out;
    out.bulk_modulus_pa = bulk_;
    out.shear_modulus_pa = shear_;
    Vec3 mean = Vec3::Zero();
    for (const Vec3& p : cage_.mesh->vertices()) mean += p / static_cast<double>(cage_.mesh->vertices().size());
    for (const Vec3& p : cage_.mesh->vertices()) out.rest.push_back(p - mean);
    const std::vector<int> of = ClusterOf(fine_, clusters), part_of = PartOf(fine_, of, parts);
    for (int c = 0; c < clusters; ++c) {
      EIPC_ASSIGN_OR_RETURN(std::optional<CondensedStiffness::Cluster> cluster, ClusterFrom(of, part_of, c, out));
      if (cluster) out.clusters.push_back(*std::move(cluster));
    }
    return out;
  }

 private:
  Eigen::Index n() const { return static_cast<Eigen::Index>(cage_.mesh->vertices().size()); }
  Eigen::Index m() const { return static_cast<Eigen::Index>(fine_.mesh.vertices().size()); }

  // In which tetrahedra of the cage the samples are.
  absl::Status FindSamples() {
    for (size_t s = 0; s < samples_.size(); ++s) {
      if (s % kSamplesAPoll == 0) EIPC_RETURN_IF_ERROR(Poll(interrupt_));
      cage_tet_.push_back(cage_.Find(samples_[s].at));
    }
    return absl::OkStatus();
  }

  // P, one row a cage vertex and one column a fine one.
  absl::Status FindProjection() {
    MatX gram = MatX::Zero(n(), n()), mixed = MatX::Zero(n(), m());
    double total = 0;
    for (size_t s = 0; s < samples_.size(); ++s) {
      if (s % kSamplesAPoll == 0) EIPC_RETURN_IF_ERROR(Poll(interrupt_));
      const Eigen::Vector4d coarse = cage_.Weights(cage_tet_[s], samples_[s].at),
                            fine = located_.Weights(samples_[s].tet, samples_[s].at);
      const Tet& c = cage_.mesh->tets()[cage_tet_[s]];
      const Tet& f = fine_.mesh.tets()[samples_[s].tet];
      total += samples_[s].weight;
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
          gram(c[a], c[b]) += samples_[s].weight * coarse[a] * coarse[b];
          mixed(c[a], f[b]) += samples_[s].weight * coarse[a] * fine[b];
        }
      }
    }
    EIPC_RETURN_IF_ERROR(AddSmoothing(cage_, kSmoothing * total / static_cast<double>(n()), interrupt_, &gram));
    const Eigen::LDLT<MatX> solver(gram);
    if (solver.info() != Eigen::Success || !solver.isPositive())
      return absl::InternalError("the projection onto the cage is singular");
    projection_ = solver.solve(mixed);
    return Poll(interrupt_);
  }

  // X, the fine displacements of each unit displacement of the cage. With G the inverse of the fine stiffness held by a little mass
  // and N its rigid motions, x = G P^T r + N a, r free of net force and moment.
  absl::Status FindFields() {
    Sparse stiffness = LinearStiffness(fine_.mesh, fine_.volume, bulk_ - 2 * shear_ / 3, shear_);
    const double shift = kRigidShare * stiffness.diagonal().sum() / static_cast<double>(stiffness.rows());
    for (Eigen::Index i = 0; i < stiffness.rows(); ++i) stiffness.coeffRef(i, i) += shift;
    InterruptibleLdlt solver;
    EIPC_RETURN_IF_ERROR(solver.Factor(stiffness, interrupt_));
    if (solver.info() != Eigen::Success) return absl::InternalError("the stiffness of the fine model could not be factored");
    MatX load = MatX::Zero(3 * m(), 3 * n());
    for (Eigen::Index v = 0; v < m(); ++v) {
      for (Eigen::Index k = 0; k < n(); ++k) {
        for (int i = 0; i < 3; ++i) load(3 * v + i, 3 * k + i) = projection_(k, v);
      }
    }
    // Loads that are free of net force and moment already, so that the shift has nothing to hold.
    const MatX rigid = RigidMotions(cage_.mesh->vertices());
    const Eigen::HouseholderQR<MatX> qr(rigid);
    const MatX q = qr.householderQ() * MatX::Identity(3 * n(), 3 * n());
    const MatX basis = q.rightCols(3 * n() - 6);  // of r
    EIPC_ASSIGN_OR_RETURN(MatX loads, InterruptibleProduct(load, basis, interrupt_));
    EIPC_ASSIGN_OR_RETURN(const MatX response, solver.SolveEach(std::move(loads), interrupt_));
    // The rest in the compliance: P x + s = q, s the small displacement that the cage's own compliance allows.
    const MatX slack = kCageShare * CageResponse(basis);
    MatX system(3 * n(), 3 * n());
    EIPC_ASSIGN_OR_RETURN(const MatX compliance, InterruptibleTransposedProduct(load, response, interrupt_));
    system.leftCols(3 * n() - 6) = compliance + slack;
    system.rightCols(6) = rigid;
    const MatX inverse = system.partialPivLu().inverse(), force = inverse.topRows(3 * n() - 6);
    EIPC_ASSIGN_OR_RETURN(fields_, InterruptibleProduct(response, force, interrupt_));
    fields_ += RigidMotions(fine_.mesh.vertices()) * inverse.bottomRows(6);
    slack_ = force.transpose() * (basis.transpose() * slack) * force;
    EIPC_ASSIGN_OR_RETURN(const MatX follows, InterruptibleTransposedProduct(load, fields_, interrupt_));
    const double error = (follows + slack * force - MatX::Identity(3 * n(), 3 * n())).norm();
    if (!(error < kMostProjectionError)) return absl::InternalError("the fine model cannot follow the cage");
    return absl::OkStatus();
  }

  // Displacements of the cage, filled with the material, under loads that are free of net force and moment.
  MatX CageResponse(const MatX& loads) const {
    std::vector<double> volume;
    for (size_t t = 0; t < cage_.mesh->tets().size(); ++t) volume.push_back(cage_.mesh->Volume(static_cast<int>(t)));
    MatX stiffness = LinearStiffness(*cage_.mesh, volume, bulk_ - 2 * shear_ / 3, shear_);
    stiffness.diagonal().array() += kRigidShare * stiffness.trace() / static_cast<double>(stiffness.rows());
    return stiffness.ldlt().solve(loads);
  }

  // Nothing when the cluster is empty.
  absl::StatusOr<std::optional<CondensedStiffness::Cluster>> ClusterFrom(const std::vector<int>& of,
                                                                         const std::vector<int>& part_of, int c,
                                                                         const CondensedStiffness& made) const {
    std::optional<CondensedStiffness::Cluster> none;
    CondensedStiffness::Cluster out;
    const int clusters = 1 + *std::max_element(of.begin(), of.end());
    if (!AddMeanGradient(of, c, &out)) return none;
    const std::vector<int> row_of = RowsOfParts(of, part_of, c, &out);
    if (out.volume.empty()) return none;
    // Rows by which the energy of the cluster's tetrahedra is half the square, and the mean strains of its parts. Both are freed of
    // what rounding makes of rigid motions.
    const Eigen::Index tets = std::count(of.begin(), of.end(), c);
    MatX rows = MatX::Zero(7 * tets, 3 * n()), strain = MatX::Zero(6 * static_cast<Eigen::Index>(out.volume.size()), 3 * n());
    Eigen::Index at = 0;
    for (size_t t = 0; t < of.size(); ++t) {
      const int row = row_of[part_of[t]];
      if (of[t] != c || row < 0) continue;  // empty tetrahedra have no energy
      EIPC_RETURN_IF_ERROR(Poll(interrupt_));
      const std::array<Vec3, 4> g = located_.Gradients(t);
      Eigen::Matrix<double, 7, 12> energy;
      StrainRows(g, fine_.volume[t], bulk_, shear_, &energy);
      const Eigen::Matrix<double, 6, 12> mean = fine_.volume[t] / out.volume[row / 6] * Strain(g);
      for (int a = 0; a < 4; ++a) {
        const auto field = fields_.middleRows<3>(3 * fine_.mesh.tets()[t][a]);
        rows.middleRows<7>(at) += energy.middleCols<3>(3 * a) * field;
        strain.middleRows<6>(row) += mean.middleCols<3>(3 * a) * field;
      }
      at += 7;
    }
    const MatX rigid = RigidMotions(made.rest);
    const Eigen::LDLT<MatX> gram((rigid.transpose() * rigid).eval());
    rows -= (rows * rigid) * gram.solve(rigid.transpose());
    strain -= (strain * rigid) * gram.solve(rigid.transpose());
    MatX slack = slack_ / clusters;
    slack -= slack * rigid * gram.solve(rigid.transpose());
    slack -= rigid * gram.solve(rigid.transpose() * slack);
    EIPC_ASSIGN_OR_RETURN(const MatX energy, InterruptibleTransposedProduct(rows, rows, interrupt_));
    Store(energy + slack, strain, made, &out);
    return std::make_optional(std::move(out));
  }

  // The volumes of the parts of cluster c that are not empty, and the first row of each part's strain; -1 where it is empty.
  std::vector<int> RowsOfParts(const std::vector<int>& of, const std::vector<int>& part_of, int c,
                               CondensedStiffness::Cluster* out) const {
    std::vector<double> volume(1 + *std::max_element(part_of.begin(), part_of.end()), 0);
    for (size_t t = 0; t < of.size(); ++t) {
      if (of[t] == c) volume[part_of[t]] += fine_.volume[t];
    }
    std::vector<int> rows;
    for (const double part : volume) {
      rows.push_back(part > 0 ? static_cast<int>(6 * out->volume.size()) : -1);
      if (part > 0) out->volume.push_back(part);
    }
    return rows;
  }

  // False when the cluster is empty.
  bool AddMeanGradient(const std::vector<int>& of, int c, CondensedStiffness::Cluster* out) const {
    out->gradient.assign(n(), Vec3::Zero());
    double total = 0;
    for (size_t s = 0; s < samples_.size(); ++s) {
      if (of[samples_[s].tet] != c) continue;
      const std::array<Vec3, 4> g = cage_.Gradients(cage_tet_[s]);
      for (int a = 0; a < 4; ++a) out->gradient[cage_.mesh->tets()[cage_tet_[s]][a]] += samples_[s].weight * g[a];
      total += samples_[s].weight;
    }
    if (!(total > 0)) return false;
    for (Vec3& g : out->gradient) g /= total;
    return true;
  }

  // From rows and columns by vertex to those by coordinate.
  static void Store(const MatX& stiffness, const MatX& strain, const CondensedStiffness& made, CondensedStiffness::Cluster* out) {
    const size_t stride = made.stride(), vertices = made.vertices();
    const size_t lines = 6 * out->volume.size();
    out->stiffness.assign(3 * stride * 3 * vertices, 0);
    out->strain.assign(lines * 3 * stride, 0);
    for (size_t k = 0; k < vertices; ++k) {
      for (size_t i = 0; i < 3; ++i) {
        const auto row = static_cast<Eigen::Index>(3 * k + i);
        for (size_t m = 0; m < lines; ++m) out->strain[(3 * m + i) * stride + k] = strain(static_cast<Eigen::Index>(m), row);
        for (size_t l = 0; l < vertices; ++l) {
          for (size_t j = 0; j < 3; ++j) {
            const auto column = static_cast<Eigen::Index>(3 * l + j);
            out->stiffness[((j * vertices + l) * 3 + i) * stride + k] = 0.5 * (stiffness(row, column) + stiffness(column, row));
          }
        }
      }
    }
  }

  Located cage_;
  const FineModel& fine_;
  Located located_;  // the fine model
  std::vector<SolidSample> samples_;
  Interrupt* const interrupt_;    // may be null
  std::vector<size_t> cage_tet_;  // by sample
  double shear_ = 0, bulk_ = 0;   // Pa
  MatX projection_, fields_;
  MatX slack_;  // the stiffness of s, N/m
};

// Whether the object's own tetrahedra can stand for it: they are not many, and finer than the cage, or the cage itself. With fewer
// displacements than the cage has, P K_f^+ P^T is singular.
bool IsFine(const TetMesh& own, const TetMesh& cage) {
  const size_t vertices = own.vertices().size();
  if (vertices > kMostOwnFineVertices) return false;
  return vertices >= kFinerOwn * cage.vertices().size() || (own.vertices() == cage.vertices() && own.tets() == cage.tets());
}

absl::StatusOr<FineModel> FineModelFor(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* own, Interrupt* interrupt) {
  if (own != nullptr && IsFine(*own, cage)) {
    FineModel fine = {*own, {}, true};
    for (size_t t = 0; t < own->tets().size(); ++t) fine.volume.push_back(own->Volume(static_cast<int>(t)));
    return fine;
  }
  EIPC_ASSIGN_OR_RETURN(TetMesh lattice, ReferenceLattice(surface, LatticeFor(cage), interrupt));
  return WeighedBySolid(std::move(lattice), surface, interrupt);
}

}  // namespace

absl::StatusOr<CondensedStiffness> Condense(const TetMesh& cage, const SurfaceMesh& surface, const TetMesh* own,
                                            const ElasticModuli& moduli, Interrupt* interrupt) {
  EIPC_ASSIGN_OR_RETURN(const FineModel fine, FineModelFor(cage, surface, own, interrupt));
  const int pieces = CountComponents(fine.mesh.vertices().size(), fine.mesh.tets());
  if (pieces > 1) return absl::InvalidArgumentError(absl::StrCat("nothing holds the ", pieces, " pieces of the object together"));
  const auto tets = static_cast<int>(cage.tets().size());
  const int clusters = std::clamp(tets / kTetsOfCluster, 1, kMostCondensedClusters), parts = std::min(tets, kMostCondensedParts);
  EIPC_ASSIGN_OR_RETURN(std::vector<SolidSample> samples, SamplesOf(fine, surface, interrupt));
  return Condenser(cage, fine, std::move(samples), moduli, interrupt).Make(clusters, parts);
}

}  // namespace eipc
