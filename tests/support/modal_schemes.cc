#include "tests/support/modal_schemes.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <random>
#include <stdexcept>
#include <unsupported/Eigen/MatrixFunctions>

#include "sim/dynamics/integrators.h"

namespace eipc::testing {
namespace {

ModalScheme Decorated(const std::string& name, IntegratorKind base, std::initializer_list<ModalRow> rows, int order) {
  ModalScheme scheme;
  scheme.name = name;
  scheme.base = MakeScheme(base);
  scheme.order = order;
  int i = 0;
  for (const ModalRow& row : rows) scheme.rows[i++] = row;
  return scheme;
}

std::vector<ModalScheme> MakeAll() {
  const IntegratorKind be = IntegratorKind::kBackwardEuler, bdf2 = IntegratorKind::kBdf2, tr_bdf2 = IntegratorKind::kTrBdf2;
  std::vector<ModalScheme> all = {
      Decorated("SI", be, {{ModalRule::kNone, 1, true}}, 1),
      Decorated("ERE", be, {{ModalRule::kBackwardEuler, 1, false}}, 2),
      Decorated("SIERE", be, {{ModalRule::kBackwardEuler, 1, true}}, 1),
      Decorated("BEERE", be, {{ModalRule::kBackwardEuler, 1, false}}, 1),
      Decorated("SBDF2ERE", bdf2, {{ModalRule::kBdf2, 1, true}}, 2),
      Decorated("STR_SBDF2ERE", tr_bdf2, {{}, {ModalRule::kTrapezoidal, 0.5, true}, {ModalRule::kBdf2, 0.5, true}}, 2),
      Decorated("SBDF2ERE_AS_PRINTED", bdf2, {{ModalRule::kBdf2AsPrinted, 1, true}}, 1),
      Decorated("STR_SBDF2ERE_AS_PRINTED", tr_bdf2,
                {{}, {ModalRule::kTrapezoidal, 0.5, true}, {ModalRule::kBdf2AsPrinted, 0.5, true}}, 1),
  };
  all[1].all_modes = true;
  return all;
}

// M + g^2 P^T K P, P = I - X X^T M, by the sparse A = M + g^2 K and a correction of rank 2 s: P^T K P = K + U C U^T with U = (K X,
// M X) and C = (0, -I; -I, S), S = X^T K X, so the inverse of C is (-S, -I; -I, 0) (Woodbury).
class FilteredSolver {
 public:
  FilteredSolver(const SparseMat& mass, const SparseMat& stiffness, double g, const MatX& basis, const MatX& mass_basis)
      : factor_(SparseMat(mass + g * g * stiffness)) {
    if (factor_.info() != Eigen::Success) throw std::runtime_error("a modal scheme's matrix has no factor");
    const Eigen::Index s = basis.cols();
    if (s == 0) return;
    u_.resize(basis.rows(), 2 * s);
    u_ << stiffness * basis, mass_basis;
    image_ = factor_.solve(u_);
    MatX inner = MatX::Zero(2 * s, 2 * s);
    inner.topLeftCorner(s, s) = -basis.transpose() * u_.leftCols(s);
    inner.topRightCorner(s, s) = inner.bottomLeftCorner(s, s) = -MatX::Identity(s, s);
    inner_.compute(inner / (g * g) + u_.transpose() * image_);
  }
  VecX Solve(const VecX& b) const {
    const VecX y = factor_.solve(b);
    return u_.size() == 0 ? y : VecX(y - image_ * inner_.solve(VecX(u_.transpose() * y)));
  }

 private:
  Eigen::SimplicialLDLT<SparseMat> factor_;
  MatX u_, image_;
  Eigen::PartialPivLU<MatX> inner_;
};

}  // namespace

const std::vector<ModalScheme>& ModalSchemes() {
  static const auto* all = new std::vector<ModalScheme>(MakeAll());
  return *all;
}

const ModalScheme& ModalSchemeNamed(const std::string& name) {
  for (const ModalScheme& scheme : ModalSchemes()) {
    if (scheme.name == name) return scheme;
  }
  throw std::invalid_argument("no modal scheme is named " + name);
}

// By subspace iteration with the inverse of K, from fixed vectors; dense where the system is small or most modes are wanted.
MatX LowestModes(const SparseMat& stiffness, const SparseMat& mass, int s) {
  constexpr int kMore = 8, kMaxIterations = 300, kSmall = 100;
  constexpr double kTolerance = 1e-11;
  const Eigen::Index n = mass.rows();
  if (n <= kSmall) return Eigen::GeneralizedSelfAdjointEigenSolver<MatX>(MatX(stiffness), MatX(mass)).eigenvectors().leftCols(s);
  const Eigen::SimplicialLDLT<SparseMat> factor(stiffness);
  std::mt19937 random(1);
  MatX x = MatX::NullaryExpr(n, s + kMore, [&] { return static_cast<double>(random()) / static_cast<double>(random.max()) - 0.5; });
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    x = factor.solve(MatX(mass * x));
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> ritz(MatX(x.transpose() * (stiffness * x)),
                                                              MatX(x.transpose() * (mass * x)));
    x = MatX(x * ritz.eigenvectors());
    const MatX image = stiffness * x.leftCols(s), off = image - mass * (x.leftCols(s) * ritz.eigenvalues().head(s).asDiagonal());
    if ((off.colwise().norm().array() <= kTolerance * image.colwise().norm().array()).all()) return x.leftCols(s);
  }
  throw std::runtime_error("the lowest modes were not found");
}

ModalRun::ModalRun(const ElasticProblem* problem, const ModalScheme* scheme, MatX basis, const VecX& q, const VecX& v)
    : problem_(problem),
      scheme_(scheme),
      basis_(std::move(basis)),
      mass_basis_(problem->mass * basis_),
      mass_factor_(problem->mass),
      q_(q),
      v_(v) {}

// The last column of exp of [[J, c, g], [0, 0, 1], [0, 0, 0]] k, J = [[0, I], [-S, 0]].
VecX ModalRun::Increment(const VecX& q, const VecX& v, double k) const {
  const Eigen::Index s = basis_.cols();
  const SparseMat stiffness = problem_->stiffness(q);
  const VecX rest_of_v = v - basis_ * (mass_basis_.transpose() * v);
  MatX a = MatX::Zero(2 * s + 2, 2 * s + 2);
  a.block(0, s, s, s).setIdentity();
  a.block(s, 0, s, s) = -basis_.transpose() * (stiffness * basis_);
  a.block(s, 2 * s, s, 1) = -basis_.transpose() * (stiffness * rest_of_v);
  a.block(0, 2 * s + 1, s, 1) = mass_basis_.transpose() * v;
  a.block(s, 2 * s + 1, s, 1) = basis_.transpose() * Force(q);
  a(2 * s, 2 * s + 1) = 1;
  const MatX exponential = (k * a).exp();
  return exponential.col(2 * s + 1).head(2 * s);
}

VecX ModalRun::RowIncrement(const ModalRow& row, const VecX& q, const VecX& v, double dt_s) const {
  const double k = row.span * dt_s;
  const Eigen::Index s = basis_.cols();
  switch (row.rule) {
    case ModalRule::kBackwardEuler:
      return Increment(q, v, k);
    case ModalRule::kTrapezoidal: {
      VecX taken(2 * s);
      taken << mass_basis_.transpose() * v, basis_.transpose() * Force(q);
      return Increment(q, v, k) - 0.5 * k * taken;
    }
    case ModalRule::kBdf2:
      return Increment(q, v, k) + Increment(q, v, -k) / 3;
    case ModalRule::kBdf2AsPrinted:
      return 2.0 / 3 * Increment(q, v, k);
    case ModalRule::kNone:
      break;
  }
  return VecX::Zero(2 * s);
}

void ModalRun::Reach(const SchemePoint& point, const ModalRow& modal, const VecX& q_start, const VecX& v_start, double dt_s,
                     VecX* q, VecX* v) {
  constexpr int kMaxIterations = 60;
  const double gh = point.row.a * dt_s;
  const bool filters = modal.rule != ModalRule::kNone && basis_.cols() > 0;
  VecX q_hat = point.q_hat, v_hat = point.v_hat;
  const auto outside = [&](const VecX& x) { return filters ? VecX(x - basis_ * (mass_basis_.transpose() * x)) : x; };
  VecX target = VecX::Zero(q_hat.size());  // X Q*
  if (filters) {
    const VecX e = RowIncrement(modal, q_start, v_start, dt_s);
    const Eigen::Index s = basis_.cols();
    const VecX modal_q = mass_basis_.transpose() * q_hat + e.head(s), modal_v = mass_basis_.transpose() * v_hat + e.tail(s);
    target = basis_ * modal_q;
    v_hat = outside(v_hat) + basis_ * (modal_v - gh * (basis_.transpose() * problem_->rest));
    q_hat = outside(q_hat) + basis_ * (modal_q - gh * modal_v);
  }
  const SparseMat start_stiffness = problem_->stiffness(q_start);
  const VecX start_gradient = problem_->gradient(q_start);
  const auto filtered_force = [&](const VecX& g) { return filters ? VecX(g - mass_basis_ * (basis_.transpose() * g)) : g; };
  *v = v_hat;
  double last = 0;
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    const VecX z = outside(q_hat + gh * *v) + target;
    const VecX gradient = modal.semi ? VecX(start_gradient + start_stiffness * (z - q_start)) : problem_->gradient(z);
    const SparseMat stiffness = modal.semi ? start_stiffness : problem_->stiffness(z);
    const VecX residual = problem_->mass * (*v - v_hat) + gh * (filtered_force(gradient) - problem_->rest);
    const VecX update =
        FilteredSolver(problem_->mass, stiffness, gh, filters ? basis_ : MatX(basis_.rows(), 0), mass_basis_).Solve(residual);
    *v -= update;
    ++solves_;
    if (modal.semi) break;
    const double size = update.norm();
    if (size == 0 || (iteration > 1 && size >= 0.5 * last && size <= 1e-10 * (1 + v->norm()))) break;
    last = size;
  }
  *q = q_hat + gh * *v;
}

void ModalRun::Step(double dt_s) {
  std::vector<SchemeState> past;
  if (past_) past.push_back({&past_->q, &past_->v, past_->dt_s});
  run_.Begin(scheme_->base, dt_s, {&q_, &v_, dt_s}, past);
  SchemePoint point;
  VecX q = q_, v = v_;
  for (int i = 0; !run_.Done(); ++i) {
    run_.Prepare(&point);
    ModalRow modal = scheme_->rows[i];
    const bool first = scheme_->base.history > 0 && !past_;
    if (first && modal.rule != ModalRule::kNone) modal.rule = ModalRule::kBackwardEuler;
    if (point.row.solved()) {
      const VecX q_start = q, v_start = v;
      Reach(point, modal, q_start, v_start, dt_s, &q, &v);
    }
    run_.Accept(q, v);
    if (run_.NeedsForce()) run_.SetForce(mass_factor_.solve(Force(q)));
  }
  past_ = Past{q_, v_, dt_s};
  run_.End(&q_, &v_);
}

}  // namespace eipc::testing
