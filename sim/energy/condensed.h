#ifndef EIPC_SIM_ENERGY_CONDENSED_H_
#define EIPC_SIM_ENERGY_CONDENSED_H_

#include <array>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/base/quad.h"
#include "sim/energy/cluster_frame.h"
#include "sim/energy/coordinate_rows.h"
#include "sim/energy/elasticity.h"
#include "sim/energy/last_point.h"
#include "sim/energy/symmetric_law.h"
#include "sim/energy/tangent_terms.h"
#include "sim/energy/term.h"
#include "sim/mesh/condensed_stiffness.h"

namespace eipc {

// Elastic energy of an embedded body whose cage stands for a finer model of the object. With cluster c of that model, its parts s
// of solid volume V_s, X the cage's rest positions and q its positions, both about their means,
//
//   E = sum_c [ 1/2 y_c^T K_c y_c + sum_s V_s psi(E_s y_c) ] + sum_T V_T kappa/2 max(0, c_0 - det F_T)^2,
//   psi(e) = Psi(I + e) - 1/2 e : C e,   y_c = R_c^T q - X,   R_c = polar(F_c),   F_c = sum_k q_k g_ck^T.
//
// K_c is the condensed stiffness of small strain (CondensedStiffness), E_s y_c the mean strain of the fine model in the part, and
// psi what the energy density Psi of the body's material has beyond small strain, whose stiffness C is in K_c. So a mean strain has
// the law of the material, and only what varies within a part stays linear. polar is the rotation of the polar decomposition, g_ck
// the mean gradient of node k's shape function over the cluster. At rest the Hessian is the sum of K_c; the energy does not depend
// on where the body is and how it is turned. The last sum is over the cage's tetrahedra and zero until one has lost most of its
// volume (kFoldingStart), since the other two let those that hold little solid fold at a finite cost; kappa is the bulk modulus.
//
// R_c depends on q: the gradient has the terms of that, without which a body would turn itself. So has the Hessian, which is exact
// until it has to be positive semidefinite (Project): then it is the sum of the rotated K_c + sum_s V_s E_s^T (C_s - C) E_s, C_s
// the projected Hessian of the material, and K_c has at least what is taken from it. In both, C_s - C is left without its small
// terms (TangentTerms): most parts of a body are hardly strained, and the others mostly in a few directions.
//
// Damping is that of the elements' law: (beta / 2 gamma h) (q - q_tilde)^T K (q - q_tilde), K the rotated condensed stiffness at
// the start of the step.
class CondensedTerm : public EnergyTerm {
 public:
  // Below this ratio of a cage tetrahedron's volume to that at rest it resists in addition.
  static constexpr double kFoldingStart = 0.2;

  // Of the eigenvalues of C^-1/2 (C_s - C) C^-1/2, which bound what Newton's steps leave of an error. At the default tolerance it
  // costs hardly an iteration, at 1e-7 m/s a few percent (a quarter where Poisson's ratio is -0.4). Without TangentTerms::kBeside a
  // beam that bends far took 22 iterations in place of 16.
  static constexpr double kSameTangent = 0.3;

  // `body` has a condensed stiffness.
  CondensedTerm(const ElasticBody* body, ThreadPool* pool, double same_tangent = kSameTangent);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  void BindPattern(const BlockMatrix& hessian) override;
  bool HessianHolds(const Point& point) override;
  bool may_hold_hessian() const override { return true; }
  bool approximate_hessian() const override { return same_tangent_ > 0; }
  bool Project() override;

 private:
  // At one point, in the frame of the cluster.
  struct ClusterState {
    ClusterFrame frame;
    Vec3 z = Vec3::Zero();                  // (tr S I - S)^-1 sum p x f
    double value = 0;                       // J
    Rows p;                                 // R^T q
    Rows y;                                 // p - X
    Rows f;                                 // K y + sum_s V E^T (P - C e)
    Rows h;                                 // the gradient: f - z x g
    std::vector<Vec6s> e;                   // of the parts by fours, 0 where there is none
    Mat3 held_rotation = Mat3::Identity();  // at the last Hessian
    std::vector<Vec6s> held_e;
    // The Hessian is K, the sum of +-r^T r of the rows r = V^1/2 d^T E of the parts' TangentTerms, those that make it stiffer at
    // the beginning of `terms` and the others at its end, and with the turn of the frame the products of u with v and of v with u
    // (three each).
    size_t stiffer = 0, softer = 0;
    Rows terms, turning_left, turning_right;
    std::array<Rows, 3> turned;  // scratch
  };

  size_t n() const { return condensed_->vertices(); }
  size_t stride() const { return condensed_->stride(); }
  bool damped() const { return body_->rayleigh_beta_s > 0; }
  // Unless it is done.
  void Evaluate(const VecX& q);
  void EvaluateCluster(size_t c);
  void AddStrains(size_t c);
  void AddFourParts(size_t c, size_t four);
  void FindTangent(size_t c);
  void FindTurning(size_t c);
  // Adds the rotated stiffness of all clusters; kExact: with what the turn of their frames adds; kLinear: that of small strain.
  enum class Stiffness { kLinear, kProjected, kExact };
  void AddRotated(Stiffness kind, Rows* dense);
  void AddColumn(size_t l, size_t c, Stiffness kind, Rows* dense) const;
  Mat3 DenseBlock(const Rows& dense, size_t k, size_t l) const;
  double DampingForce(const VecX& q, VecX* gradient) const;

  const ElasticBody* body_;
  const CondensedStiffness* condensed_;
  ThreadPool* pool_;
  int32_t first_node_;
  double damping_ = 0;  // beta / gamma h
  bool projected_ = false;
  double same_deformation_ = 0;
  bool folded_ = false;  // whether a tetrahedron resisted to folding at the last Hessian
  Rows rest_;
  const double same_tangent_;
  const TangentTerms tangents_;
  std::vector<Rows> gradients_;  // of the clusters
  std::vector<ClusterState> states_;
  LastPoint evaluated_;  // where states_ belong to
  Rows position_;        // of the nodes there, about their mean
  // Of nodes k >= l; a row of `stride` entries k for each l of the n nodes and each pair of coordinates (3 a + b).
  Rows dense_;
  Rows start_;                  // of the damping: the rotated stiffness of the start of the step
  VecX q_tilde_;                // only when damped
  std::vector<int64_t> slots_;  // of the blocks (k >= l) in the matrix
};

// Of a body in the coarse space that it has, without damping, of any state, J; allocates nothing.
double StoredElasticEnergy(const ElasticBody& body, const VecX& q);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_CONDENSED_H_
