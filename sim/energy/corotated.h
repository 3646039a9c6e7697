#ifndef EIPC_SIM_ENERGY_COROTATED_H_
#define EIPC_SIM_ENERGY_COROTATED_H_

#include <array>
#include <vector>

#include "sim/base/parallel.h"
#include "sim/base/quad.h"
#include "sim/energy/elasticity.h"
#include "sim/energy/term.h"

namespace eipc {

// ElasticityTerm for linear corotated bodies, four tetrahedra at a time, one in each lane of the vector registers. The elastic
// energy is quadratic while rotations are lagged, and so is its damping, whose stiffness is that of the material: with
//     eps(A) = (R0^T A + A^T R0) / 2,   W(E) = mu |E|^2 + lambda/2 tr(E)^2,
// an element has V W(eps(F) - I) + (beta / gamma h) V W(eps(F - F_tilde)).
class CorotatedTerm : public EnergyTerm {
 public:
  // `body` is of a LinearCorotated material.
  CorotatedTerm(const ElasticBody* body, ThreadPool* pool);

  void BeginStage(const StageContext& stage) override;
  double Value(const Point& point) override;
  void AddGradient(const Point& point, VecX* gradient) override;
  void AddHessian(const Point& point, BlockMatrix* hessian) override;
  bool constant_hessian() const override { return true; }
  void AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const override;
  void BindPattern(const BlockMatrix& hessian) override;

 private:
  using Vec3s = std::array<Quad, 3>;
  using Mat3s = std::array<Vec3s, 3>;  // by columns

  // Four elements; what is missing in the last group repeats an element without volume. Nodes of an element ascend, so that every
  // block of the matrix's lower triangle is met as it is stored.
  struct Group {
    std::array<Tet, 4> nodes;
    std::array<Vec3s, 4> gradient;  // of the shape functions at rest, 1/m
    Quad volume;                    // m^3
  };

  bool damped() const { return body_->rayleigh_beta_s > 0; }
  static Mat3s Deformation(const Group& group, const VecX& q);
  void SetRotation(size_t g, const VecX& q);
  void FindForces(size_t g, const VecX& q);
  void FindBlocks(size_t g);

  const ElasticBody* body_;
  ThreadPool* pool_;
  double mu_ = 0, lambda_ = 0;  // Pa
  double damping_ = 0;          // beta / gamma h
  size_t elements_ = 0;
  std::vector<Group> groups_;
  std::vector<Mat3s> rotation_;                 // lagged
  std::vector<Mat3s> f_tilde_;                  // only when damped
  std::vector<Quad> value_;                     // J
  std::vector<std::array<Vec3s, 4>> forces_;    // minus those on the nodes, N
  std::vector<std::array<Mat3s, 10>> blocks_;   // of the pairs (a >= b), J/m^2
  std::vector<std::array<int64_t, 10>> slots_;  // by element: of the same in the matrix
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_COROTATED_H_
