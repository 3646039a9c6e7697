#include "tests/sim/geometry/ccd_exact_polynomial.h"

#include <algorithm>
#include <utility>

namespace eipc::ccd_test {
namespace {

using Sturm = std::vector<Polynomial>;

Sturm SturmSequence(const Polynomial& p) {
  Sturm s = {p, p.Derivative()};
  while (!s.back().IsZero()) s.push_back(Polynomial() - s[s.size() - 2].Remainder(s.back()));
  s.pop_back();
  return s;
}

int SignChanges(const Sturm& s, const mpq_class& t) {
  int changes = 0, last = 0;
  for (const Polynomial& p : s) {
    const int sign = sgn(p.At(t));
    if (sign != 0 && last != 0 && sign != last) ++changes;
    if (sign != 0) last = sign;
  }
  return changes;
}

// Distinct roots in (lo, hi], for a square-free polynomial.
int CountRoots(const Sturm& s, const mpq_class& lo, const mpq_class& hi) { return SignChanges(s, lo) - SignChanges(s, hi); }

void Isolate(const Polynomial& p, const Sturm& s, const mpq_class& lo, const mpq_class& hi, std::vector<Root>* roots) {
  const int count = CountRoots(s, lo, hi);
  if (count == 0) return;
  if (count == 1) {
    if (p.At(hi) == 0) {
      roots->emplace_back(hi);
    } else {
      roots->emplace_back(p, lo, hi);
    }
    return;
  }
  const mpq_class middle = (lo + hi) / 2;
  Isolate(p, s, lo, middle, roots);
  Isolate(p, s, middle, hi, roots);
}

}  // namespace

Polynomial::Polynomial(std::vector<mpq_class> coefficients) : c_(std::move(coefficients)) {
  while (!c_.empty() && c_.back() == 0) c_.pop_back();
}

mpq_class Polynomial::At(const mpq_class& t) const {
  mpq_class value = 0;
  for (size_t i = c_.size(); i-- > 0;) value = value * t + c_[i];
  return value;
}

Polynomial Polynomial::Derivative() const {
  std::vector<mpq_class> d;
  for (size_t i = 1; i < c_.size(); ++i) d.push_back(c_[i] * static_cast<int>(i));
  return Polynomial(std::move(d));
}

void Polynomial::Divide(const Polynomial& divisor, Polynomial* quotient, Polynomial* remainder) const {
  std::vector<mpq_class> r = c_, q(std::max<int>(0, Degree() - divisor.Degree() + 1));
  for (int power = Degree() - divisor.Degree(); power >= 0; --power) {
    q[power] = r[power + divisor.Degree()] / divisor.c_.back();
    for (int i = 0; i <= divisor.Degree(); ++i) r[power + i] -= q[power] * divisor.c_[i];
  }
  *quotient = Polynomial(std::move(q));
  *remainder = Polynomial(std::move(r));
}

Polynomial Polynomial::Remainder(const Polynomial& divisor) const {
  Polynomial q, r;
  Divide(divisor, &q, &r);
  return r;
}

Polynomial Polynomial::Quotient(const Polynomial& divisor) const {
  Polynomial q, r;
  Divide(divisor, &q, &r);
  return q;
}

int Polynomial::SignOver(const mpq_class& lo, const mpq_class& hi) const {
  if (IsZero()) return 0;
  const int n = Degree();
  // Coefficients of p(lo + s (hi - lo)) in s, by Horner's scheme on polynomials.
  const Polynomial line({lo, hi - lo});
  Polynomial shifted;
  for (int i = n; i >= 0; --i) shifted = shifted * line + Polynomial({c_[i]});
  shifted.c_.resize(n + 1);
  int sign = 0;
  for (int j = 0; j <= n; ++j) {
    mpq_class bernstein = 0;
    mpq_class ratio = 1;  // C(j, i) / C(n, i)
    for (int i = 0; i <= j; ++i) {
      bernstein += ratio * shifted.c_[i];
      if (i < j) ratio = ratio * (j - i) / (n - i);
    }
    const int s = sgn(bernstein);
    if (s == 0 || (sign != 0 && s != sign)) return 0;
    sign = s;
  }
  return sign;
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  std::vector<mpq_class> c(std::max(a.c_.size(), b.c_.size()));
  for (size_t i = 0; i < a.c_.size(); ++i) c[i] += a.c_[i];
  for (size_t i = 0; i < b.c_.size(); ++i) c[i] += b.c_[i];
  return Polynomial(std::move(c));
}

Polynomial operator-(const Polynomial& a, const Polynomial& b) { return a + Polynomial({mpq_class(-1)}) * b; }

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  if (a.IsZero() || b.IsZero()) return Polynomial();
  std::vector<mpq_class> c(a.c_.size() + b.c_.size() - 1);
  for (size_t i = 0; i < a.c_.size(); ++i) {
    for (size_t j = 0; j < b.c_.size(); ++j) c[i + j] += a.c_[i] * b.c_[j];
  }
  return Polynomial(std::move(c));
}

Polynomial Gcd(Polynomial a, Polynomial b) {
  while (!b.IsZero()) {
    Polynomial r = a.Remainder(b);
    a = std::move(b);
    b = std::move(r);
  }
  return a;
}

int Root::SignOf(const Polynomial& q) {
  if (q.IsZero()) return 0;
  if (lo_ == hi_) return sgn(q.At(lo_));
  const Polynomial common = Gcd(p_, q);
  if (common.Degree() >= 1 && CountRoots(SturmSequence(common), lo_, hi_) > 0) return 0;
  const Sturm s = SturmSequence(p_);
  while (true) {
    if (const int sign = q.SignOver(lo_, hi_)) return sign;
    const mpq_class middle = (lo_ + hi_) / 2;
    if (p_.At(middle) == 0) {
      const bool only = CountRoots(s, lo_, middle) == 1;  // it is ours unless it were the root at lo_, which (lo, hi] excludes
      if (only) {
        lo_ = hi_ = middle;
        return sgn(q.At(middle));
      }
    }
    (CountRoots(s, lo_, middle) == 1 ? hi_ : lo_) = middle;
  }
}

std::vector<Root> RootsInUnitInterval(const Polynomial& p) {
  std::vector<Root> roots;
  if (p.SignOver(0, 1) != 0) return roots;
  const Polynomial square_free = p.Quotient(Gcd(p, p.Derivative()));
  if (square_free.At(0) == 0) roots.emplace_back(mpq_class(0));
  Isolate(square_free, SturmSequence(square_free), 0, 1, &roots);
  return roots;
}

}  // namespace eipc::ccd_test
