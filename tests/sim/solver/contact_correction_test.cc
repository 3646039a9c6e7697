#include "sim/solver/contact_correction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/contact/barrier_function.h"
#include "tests/sim/solver/dense_problem.h"

namespace eipc::testing {
namespace {

double Force(const MetContact& contact, double gap) { return -contact.scale * BarrierFirst(gap, contact.dhat); }

// Contacts with random gradients that Newton's direction of a random model closes, half of them known to it.
struct RandomModel {
  RandomModel(uint64_t seed, int count) : random(seed), quadratic(3, &random), gradient(random.Vector(9, 1)) {
    h = quadratic.k;
    for (int i = 0; i < count; ++i) {
      MetContact contact;
      contact.v = {i, 0, 0, 0};
      contact.gradient = random.Vector(9, 1);
      contact.dhat = 0.1;
      contact.gap = random.Uniform(0.02, 0.3);
      contact.scale = std::pow(10, random.Uniform(1, 5));
      if (i % 2 == 0) {
        contact.force = Force(contact, contact.gap);
        contact.stiffness = contact.scale * BarrierSecond(contact.gap, contact.dhat);
        h += contact.stiffness * contact.gradient * contact.gradient.transpose();
        gradient -= contact.force * contact.gradient;
      }
      contacts.push_back(contact);
    }
  }
  // The model with these contacts as they are, its gradient, and its Hessian.
  double Value(const VecX& d) const {
    double sum = gradient.dot(d) + 0.5 * d.dot(h * d);
    for (const MetContact& contact : contacts) {
      const double along = contact.gradient.dot(d), gap = contact.gap + along;
      if (gap <= 0) return std::numeric_limits<double>::infinity();
      sum += contact.scale * (Barrier(gap, contact.dhat) - Barrier(contact.gap, contact.dhat)) + contact.force * along -
             0.5 * contact.stiffness * along * along;
    }
    return sum;
  }
  VecX Gradient(const VecX& d) const {
    VecX sum = gradient + h * d;
    for (const MetContact& contact : contacts) {
      const double along = contact.gradient.dot(d);
      sum -= (Force(contact, contact.gap + along) - contact.force + contact.stiffness * along) * contact.gradient;
    }
    return sum;
  }
  MatX Hessian(const VecX& d) const {
    MatX sum = h;
    for (const MetContact& contact : contacts) {
      const double second = contact.scale * BarrierSecond(contact.gap + contact.gradient.dot(d), contact.dhat);
      sum += (second - contact.stiffness) * contact.gradient * contact.gradient.transpose();
    }
    return sum;
  }
  VecX Minimum() const {
    VecX d = VecX::Zero(9);
    for (int k = 0; k < 300; ++k) {
      const VecX step = -Hessian(d).ldlt().solve(Gradient(d));
      double t = 1;
      while (t > 1e-12 && !(Value(d + t * step) < Value(d))) t *= 0.5;
      if (t <= 1e-12) break;
      d += t * step;
    }
    return d;
  }
  Random random;
  Quadratic quadratic;
  VecX gradient;
  MatX h;
  std::vector<MetContact> contacts;
};

TEST(ContactCorrection, FindsTheMinimumOfTheModel) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const RandomModel model(seed, 4);
    const Eigen::LDLT<MatX> factor(model.h);
    const VecX newton = -factor.solve(model.gradient);
    ContactCorrection correction;
    correction.Begin(newton);
    VecX direction;
    // In two rounds, as they are met.
    for (int round = 0; round < 2; ++round) {
      for (int i = 2 * round; i < 2 * round + 2; ++i) correction.contacts()->Add() = model.contacts[i];
      ASSERT_TRUE(correction.Respond([&](VecX* y) {
        *y = factor.solve(VecX(*y));
        return true;
      }));
      correction.Correct(Force, &direction);
    }
    const VecX best = model.Minimum();
    EXPECT_LT((direction - best).norm(), 0.02 * best.norm()) << seed;
    EXPECT_LT(model.Value(direction), 0.99 * model.Value(best)) << seed << ": both are negative";
    EXPECT_LT(model.gradient.dot(direction), 0) << seed << ": a direction of descent";
    for (const MetContact& contact : model.contacts) EXPECT_GT(contact.gap + contact.gradient.dot(direction), 0) << seed;
  }
}

// The same bits, whatever was corrected before.
TEST(ContactCorrection, DependsOnItsDirectionAlone) {
  ContactCorrection used;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const RandomModel model(seed, 4);
    const Eigen::LDLT<MatX> factor(model.h);
    const VecX newton = -factor.solve(model.gradient);
    ContactCorrection fresh;
    VecX directions[2];
    for (ContactCorrection* correction : {&used, &fresh}) {
      correction->Begin(newton);
      for (const MetContact& contact : model.contacts) correction->contacts()->Add() = contact;
      ASSERT_TRUE(correction->Respond([&](VecX* y) {
        *y = factor.solve(VecX(*y));
        return true;
      }));
      correction->Correct(Force, &directions[correction == &used]);
    }
    EXPECT_EQ(directions[0], directions[1]) << seed;
  }
}

TEST(ContactCorrection, LeavesADirectionThatMeetsNothing) {
  const RandomModel model(3, 2);
  const VecX newton = VecX::Constant(9, 1e-3);
  ContactCorrection correction;
  correction.Begin(newton);
  MetContact& far = correction.contacts()->Add();
  far = model.contacts[1];
  far.gap = 2 * far.dhat;
  ASSERT_TRUE(correction.Respond([](VecX*) { return true; }));
  VecX direction;
  correction.Correct(Force, &direction);
  EXPECT_EQ(direction, newton);
}

// A point that a spring draws along the inside of a polygon, whose sides keep it off by barriers of a very short reach: it meets
// one side after the other, and only those within that reach are in the Hessian.
struct InAPolygon : DenseProblem {
  explicit InAPolygon(bool looks_ahead) : DenseProblem(1), looks_ahead_(looks_ahead) {
    energy = [](const VecX& q) {
      double sum = 0.5 * (q - Target()).squaredNorm();
      for (int k = 0; k < kSides; ++k) sum += kStiffness * Barrier(Gap(q, k), kDhat);
      return sum;
    };
    gradient = [](const VecX& q) {
      VecX sum = q - Target();
      for (int k = 0; k < kSides; ++k) sum -= kStiffness * BarrierFirst(Gap(q, k), kDhat) * Normal(k);
      return sum;
    };
    hessian = [](const VecX& q) {
      MatX sum = MatX::Identity(3, 3);
      for (int k = 0; k < kSides; ++k) sum += kStiffness * BarrierSecond(Gap(q, k), kDhat) * Normal(k) * Normal(k).transpose();
      return sum;
    };
    // Up to where a tenth of the least gap is left.
    max_step = [](const VecX& q, const VecX& dq) {
      double step = 1;
      for (int k = 0; k < kSides; ++k) {
        const double closing = Normal(k).dot(dq);
        if (closing > 0) step = std::min(step, 0.9 * Gap(q, k) / closing);
      }
      return step;
    };
  }
  static VecX Target() { return VecX(Vec3(-1.5, 0.3, 0)); }
  static VecX Normal(int side) { return VecX(Vec3(std::cos(2 * M_PI * side / kSides), std::sin(2 * M_PI * side / kSides), 0)); }
  static double Gap(const VecX& q, int side) { return 1 - Normal(side).dot(q); }

  const std::vector<double>& NodeInertia() override { return inertia_; }
  void FindContactsMet(const VecX& direction, const VecX& reached, double fraction, size_t most, MetContacts* met) override {
    int nearest = 0;
    for (int k = 0; k < kSides; ++k) {
      if (Gap(reached, k) < Gap(reached, nearest)) nearest = k;
    }
    if (!looks_ahead_ || most == 0 || met->Has({nearest, 0, 0, 0})) return;
    MetContact& contact = met->Add();
    contact.v = {nearest, 0, 0, 0};
    contact.gradient = -Normal(nearest);
    contact.gap = Gap(reached, nearest) + fraction * Normal(nearest).dot(direction);
    contact.force = -kStiffness * BarrierFirst(Gap(point(), nearest), kDhat);
    contact.stiffness = kStiffness * BarrierSecond(Gap(point(), nearest), kDhat);
    contact.dhat = kDhat;
    contact.scale = kStiffness;
  }
  double ForceOfMet(const MetContact& contact, double gap) const override { return Force(contact, gap); }

  static constexpr int kSides = 100;
  static constexpr double kDhat = 1e-6, kStiffness = 1e6;
  const bool looks_ahead_;
  const std::vector<double> inertia_ = {1};
};

// Contacts are met one after the other, so each round takes the direction further.
TEST(ContactCorrection, MeetsOneContactAfterTheOther) {
  struct OneRound : InAPolygon {
    OneRound() : InAPolygon(true) {}
    void Gradient(VecX* gradient) override {
      asked = false;
      InAPolygon::Gradient(gradient);
    }
    void FindContactsMet(const VecX& direction, const VecX& reached, double fraction, size_t most, MetContacts* met) override {
      if (!asked) InAPolygon::FindContactsMet(direction, reached, fraction, most, met);
      asked = true;
    }
    bool asked = false;
  };
  const VecX start = Vec3(1 - 0.5 * InAPolygon::kDhat, 0.01, 0);
  OneRound one;
  InAPolygon all(true);
  const Solution first = Solve(&one, start, Settings(1e-9, 1000), {0}), run = Solve(&all, start, Settings(1e-9, 1000), {0});
  EXPECT_EQ(first.report.outcome, NewtonOutcome::kConverged);
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_LT(run.report.iterations, 0.9 * first.report.iterations) << run.report.iterations << " and " << first.report.iterations;
}

// What is met in a second round, and is not there, stops the direction at once: that of the first round promises more.
TEST(ContactCorrection, FollowsTheDirectionThatPromisesMost) {
  struct WithAGhost : InAPolygon {
    explicit WithAGhost(double left) : InAPolygon(true), left_(left) {}
    void Gradient(VecX* gradient) override {
      rounds = 0;
      InAPolygon::Gradient(gradient);
    }
    void FindContactsMet(const VecX& direction, const VecX& reached, double fraction, size_t most, MetContacts* met) override {
      if (++rounds == 1) return InAPolygon::FindContactsMet(direction, reached, fraction, most, met);
      if (left_ >= 1 || rounds > 2) return;
      MetContact& contact = met->Add();
      contact = {};
      contact.v = {-1, 0, 0, 0};
      contact.gradient = -direction.normalized();
      contact.gap = left_ * direction.norm();
      contact.dhat = 1e-3 * contact.gap;
      contact.scale = 1e6 * kStiffness;
    }
    const double left_;  // of the direction; 1: there is no ghost
    int rounds = 0;
  };
  const VecX start = Vec3(1 - 0.5 * InAPolygon::kDhat, 0.01, 0);
  WithAGhost without(1);
  const Solution once = Solve(&without, start, Settings(1e-9, 1000), {0});
  for (const double left : {1e-6, 0.01, 0.03, 0.1, 0.2}) {
    WithAGhost with(left);
    const Solution run = Solve(&with, start, Settings(1e-9, 1000), {0});
    EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged) << left;
    EXPECT_EQ(run.q, once.q) << left;
    EXPECT_EQ(run.report.iterations, once.report.iterations) << left;
  }
}

// Another right-hand side costs conjugate gradients as much as an iteration.
TEST(ContactCorrection, IsLeftOutWithoutAFactor) {
  struct Counting : InAPolygon {
    using InAPolygon::InAPolygon;
    void FindContactsMet(const VecX& direction, const VecX& reached, double fraction, size_t most, MetContacts* met) override {
      ++asked;
      InAPolygon::FindContactsMet(direction, reached, fraction, most, met);
    }
    int asked = 0;
  };
  const VecX start = Vec3(1 - 0.5 * InAPolygon::kDhat, 0.01, 0);
  SolverSettings settings = Settings(1e-9, 1000);
  for (const LinearSolverKind kind : {LinearSolverKind::kCholesky, LinearSolverKind::kPcgBlock}) {
    settings.linear_solver = kind;
    Counting problem(true);
    const Solution run = Solve(&problem, start, settings, {0});
    EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
    EXPECT_EQ(run.report.direct_solves, 0);
    EXPECT_EQ(problem.asked > 0, kind == LinearSolverKind::kCholesky) << problem.asked;
  }
}

// The ratio of two updates gives the distance that is left only where neither was corrected. Here collision detection lets a
// direction pass that stops short of a contact, and cuts every later one in half.
TEST(ContactCorrection, ACorrectedStepForetellsNothing) {
  struct ShortOfAContact : DenseProblem {
    ShortOfAContact() : DenseProblem(1) {
      energy = [](const VecX& q) { return 0.5 * (q - Target()).squaredNorm(); };
      gradient = [](const VecX& q) { return VecX(q - Target()); };
      hessian = [](const VecX&) { return MatX::Identity(3, 3); };
      max_step = [this](const VecX&, const VecX& dq) { return asked ? 0.5 : dq.norm() > 0.97 ? 0.05 : 1.0; };
    }
    static VecX Target() { return VecX(Vec3(1.05, 0, 0)); }
    void Gradient(VecX* sum) override {
      asked = met;
      DenseProblem::Gradient(sum);
    }
    void FindContactsMet(const VecX& direction, const VecX&, double, size_t, MetContacts* contacts) override {
      if (met || direction.norm() > 1) return;  // the first cut direction is not corrected
      met = true;
      MetContact& contact = contacts->Add();
      contact.v = {0, 0, 0, 0};
      contact.gradient = -Vec3::UnitX();
      contact.gap = 0.95 * direction.norm();
      contact.dhat = contact.scale = 1e-6;
    }
    double ForceOfMet(const MetContact& contact, double gap) const override { return Force(contact, gap); }
    const std::vector<double>& NodeInertia() override { return inertia; }
    const std::vector<double> inertia = {1};
    bool met = false, asked = false;
  };
  constexpr double kTolerance = 0.01;
  ShortOfAContact problem;
  const Solution run = Solve(&problem, VecX::Zero(3), Settings(kTolerance, 100), {0});
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_TRUE(problem.met);
  EXPECT_LT((run.q - ShortOfAContact::Target()).norm(), kTolerance);
}

TEST(ContactCorrection, LooksAheadAlongManySides) {
  const VecX start = Vec3(1 - 0.5 * InAPolygon::kDhat, 0.01, 0);
  int iterations[2] = {};
  for (const bool ahead : {false, true}) {
    InAPolygon problem(ahead);
    const Solution run = Solve(&problem, start, Settings(1e-9, 1000), {0});
    EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged) << ahead;
    EXPECT_GT(run.q.normalized().dot(InAPolygon::Target().normalized()), 0.99) << "it has gone around, on half of the sides";
    iterations[ahead] = run.report.iterations;
  }
  EXPECT_LT(2 * iterations[true], iterations[false]) << iterations[true] << " and " << iterations[false];
}

// A light body slides on beside one that stores so much that its own energy is lost in the rounding of the sum. Damping makes it
// slow, which is no end.
TEST(ContactCorrection, DampedSlidesGoOnBesideMuchEnergy) {
  const VecX start = Vec3(1 - 0.5 * InAPolygon::kDhat, 0.01, 0);
  for (const double other : {0.0, 1e12}) {
    InAPolygon problem(false);
    const auto energy = problem.energy;
    problem.energy = [&](const VecX& q) { return other + energy(q); };
    const Solution run = Solve(&problem, start, Settings(1e-9, 1000), {0});
    EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged) << other;
    EXPECT_LT((run.q.normalized() - InAPolygon::Target().normalized()).norm(), 0.01) << other;
  }
}

}  // namespace
}  // namespace eipc::testing
