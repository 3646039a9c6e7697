#ifndef EIPC_TESTS_SUPPORT_FINITE_DIFFERENCE_H_
#define EIPC_TESTS_SUPPORT_FINITE_DIFFERENCE_H_

// Derivatives of black boxes, to hold analytic ones against.

#include <Eigen/Core>
#include <functional>

#include "sim/base/types.h"

namespace eipc::testing {

using MatX = Eigen::MatrixXd;

// Gradient of f at x by six-point central differences of step h (sixth order): about 1e-10 relative for a smooth f when h is
// some 1e-3 of the length over which f changes.
VecX GradientByDifferences(const std::function<double(const VecX&)>& f, const VecX& x, double h);
// Jacobian of g at x, by the same differences.
MatX JacobianByDifferences(const std::function<VecX(const VecX&)>& g, const VecX& x, double h);

// The nearest positive semidefinite matrix: negative eigenvalues set to zero.
MatX ClampedToPsd(const MatX& symmetric);
double SmallestEigenvalue(const MatX& symmetric);

// |a - b| / max(|a|, |b|), Frobenius; 0 when both are zero.
double RelativeError(const MatX& a, const MatX& b);

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_FINITE_DIFFERENCE_H_
