#ifndef EIPC_SIM_ENERGY_CONDENSED_H_
#define EIPC_SIM_ENERGY_CONDENSED_H_

#include <array>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/energy/elasticity.h"
#include "sim/energy/term.h"
#include "sim/mesh/condensed_stiffness.h"

namespace eipc {

// Elastic energy of an embedded body whose cage stands for a finer model of the object. With the stiffness K_c of cluster c, the
// cage's rest positions X and q the cage's positions, both about their means,
//
//   E = sum_c 1/2 y_c^T K_c y_c + sum_T V_T kappa/2 max(0, c_0 - det F_T)^2,     y_c = R_c^T q - X,
//   R_c = the rotation of the polar decomposition of  F_c = sum_k q_k g_ck^T,
//
// g_ck the mean gradient of node k's shape function over the cluster. At rest its Hessian is the sum of the K_c, the condensed
// stiffness; it does not depend on where the body is and how it is turned. The second sum is over the cage's tetrahedra and zero
// until one has lost a share of its volume (kFoldingStart): the condensed stiffness is that of small strain and would let
// tetrahedra fold at a finite cost; kappa is the bulk modulus.
//
// R_c depends on q: the gradient has the terms of that, without which a body would turn itself. So has the Hessian, which is exact
// until it has to be positive semidefinite (Project): then it is the sum of the rotated K_c. Damping is that of the elements' law:
// (beta / 2 gamma h) (q - q_tilde)^T K (q - q_tilde), K the rotated stiffness at the start of the step.
class CondensedTerm : public EnergyTerm {
 public:
  // Below this ratio of a cage tetrahedron's volume to that at rest it resists in addition.
  static constexpr double kFoldingStart = 0.8;

  // `body` has a condensed stiffness.
  CondensedTerm(const ElasticBody* body, ThreadPool* pool);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  void BindPattern(const BlockMatrix& hessian) override;
  bool Project() override;

 private:
  // At one point, in the frame of the cluster; vectors by coordinate (CondensedStiffness).
  struct ClusterState {
    Mat3 rotation = Mat3::Identity();
    Mat3 stretch = Mat3::Identity();          // S of F = R S
    Mat3 torque_inverse = Mat3::Identity();   // (tr S I - S)^-1
    Vec3 z = Vec3::Zero();                    // (tr S I - S)^-1 sum p x f
    double value = 0;                         // J
    std::vector<double> p;                    // R^T q
    std::vector<double> f;                    // K y
    std::vector<double> h;                    // the gradient: f - z x g
    std::array<std::vector<double>, 3> u, v;  // the part of the Hessian of rank six, u v^T + v u^T, turned back by R
    std::vector<double> scratch;
  };

  size_t n() const { return condensed_->vertices(); }
  size_t stride() const { return condensed_->stride(); }
  bool damped() const { return body_->rayleigh_beta_s > 0; }
  // Unless it is done.
  void Evaluate(const VecX& q);
  void EvaluateCluster(size_t c, const VecX& q);
  void FindTurning(size_t c);
  // Adds the rotated stiffness of the cluster, and with `turning` the part of rank six.
  void AddRotated(size_t c, const Mat3& rotation, bool turning, std::vector<double>* dense) const;
  Mat3 DenseBlock(const std::vector<double>& dense, size_t k, size_t l) const;
  double DampingForce(const VecX& q, VecX* gradient) const;
  void AddFoldingGradient(const VecX& q, VecX* gradient) const;
  void AddFoldingHessian(const VecX& q, BlockMatrix* hessian) const;

  const ElasticBody* body_;
  const CondensedStiffness* condensed_;
  ThreadPool* pool_;
  int32_t first_node_;
  double damping_ = 0;  // beta / gamma h
  bool projected_ = false;
  std::vector<ClusterState> states_;
  bool is_evaluated_ = false;
  VecX evaluated_;              // where states_ belong to
  Vec3 center_ = Vec3::Zero();  // mean of the nodes there
  // Of nodes k >= l; a row of `stride` entries k for each l of the n nodes and each pair of coordinates (3 a + b).
  std::vector<double> dense_;
  std::vector<double> start_;   // of the damping: the rotated stiffness of the start of the step
  VecX q_tilde_;                // only when damped
  std::vector<int64_t> slots_;  // of the blocks (k >= l) in the matrix
};

// Of a body in the coarse space that it has, without damping, of any state, J; allocates nothing.
double StoredElasticEnergy(const ElasticBody& body, const VecX& q);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_CONDENSED_H_
