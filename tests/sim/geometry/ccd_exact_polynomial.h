#ifndef EIPC_TESTS_SIM_GEOMETRY_CCD_EXACT_POLYNOMIAL_H_
#define EIPC_TESTS_SIM_GEOMETRY_CCD_EXACT_POLYNOMIAL_H_

#include <gmpxx.h>

#include <vector>

// Polynomials in one variable with rational coefficients, and their real roots in [0, 1] as exact algebraic numbers.

namespace eipc::ccd_test {

class Polynomial {
 public:
  Polynomial() = default;
  // Lowest power first.
  explicit Polynomial(std::vector<mpq_class> coefficients);

  bool IsZero() const { return c_.empty(); }
  int Degree() const { return static_cast<int>(c_.size()) - 1; }
  mpq_class At(const mpq_class& t) const;
  Polynomial Derivative() const;
  Polynomial Remainder(const Polynomial& divisor) const;
  Polynomial Quotient(const Polynomial& divisor) const;
  // The sign that it has everywhere in [lo, hi], by its Bernstein coefficients; 0: they do not decide.
  int SignOver(const mpq_class& lo, const mpq_class& hi) const;

  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);

 private:
  void Divide(const Polynomial& divisor, Polynomial* quotient, Polynomial* remainder) const;
  std::vector<mpq_class> c_;
};

Polynomial Gcd(Polynomial a, Polynomial b);

// One root of a square-free polynomial: the only one in (lo, hi], or lo = hi is the root.
class Root {
 public:
  Root(Polynomial square_free, mpq_class lo, mpq_class hi) : p_(std::move(square_free)), lo_(std::move(lo)), hi_(std::move(hi)) {}
  explicit Root(const mpq_class& t) : lo_(t), hi_(t) {}

  // Sign of another polynomial at this root, exactly. Narrows the interval.
  int SignOf(const Polynomial& q);

 private:
  Polynomial p_;
  mpq_class lo_, hi_;
};

// All roots in [0, 1] of a polynomial that is not zero.
std::vector<Root> RootsInUnitInterval(const Polynomial& p);

}  // namespace eipc::ccd_test

#endif  // EIPC_TESTS_SIM_GEOMETRY_CCD_EXACT_POLYNOMIAL_H_
