// Contacts and free moves of bodies that turn fast and fold upon themselves, many steps in a row, are those that comparing all
// pairs of primitives finds. Nothing holds the bodies together here, so that they go where no material would let them.

#include "sim/dynamics/collision_guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/collision/collision_free_step.h"
#include "sim/collision/pair_dhat.h"
#include "sim/contact/contact_set.h"
#include "sim/material/svd.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/near_triangles.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::PairName;
using testing::Random;

constexpr double kDhat = 2e-3;

// A body: a surface, and the nodes that carry it.
struct Part {
  MeshData surface;
  std::vector<EmbeddingRow> rows;
  std::vector<Vec3> nodes;
};

Part OfItsVertices(const MeshData& surface) {
  std::vector<int32_t> nodes(surface.vertices.size());
  for (size_t v = 0; v < nodes.size(); ++v) nodes[v] = static_cast<int32_t>(v);
  return {surface, Embedding::Identity(nodes).rows(), surface.vertices};
}

// A closed square tube of `cells` parts along x.
Part Bar(int cells) {
  MeshData bar;
  const double half = 0.006, length = 0.012;
  for (int i = 0; i <= cells; ++i) {
    for (const auto& [y, z] : {std::pair(-half, -half), std::pair(half, -half), std::pair(half, half), std::pair(-half, half)}) {
      bar.vertices.emplace_back(length * (i - 0.5 * cells), y, z);
    }
  }
  for (int i = 0; i < cells; ++i) {
    for (int k = 0; k < 4; ++k) {
      const int32_t a = 4 * i + k, b = 4 * i + (k + 1) % 4;
      bar.triangles.push_back({a, a + 4, b});
      bar.triangles.push_back({b, a + 4, b + 4});
    }
  }
  const int32_t end = 4 * cells;
  for (const Triangle& t :
       {Triangle{0, 1, 2}, Triangle{0, 2, 3}, Triangle{end, end + 2, end + 1}, Triangle{end, end + 3, end + 2}}) {
    bar.triangles.push_back(t);
  }
  return OfItsVertices(bar);
}

Part Sheet(int cells_x, int cells_y) {
  MeshData sheet;
  constexpr double kCell = 0.01;
  for (int j = 0; j <= cells_y; ++j) {
    for (int i = 0; i <= cells_x; ++i) sheet.vertices.emplace_back(kCell * (i - 0.5 * cells_x), kCell * (j - 0.5 * cells_y), 0);
  }
  for (int j = 0; j < cells_y; ++j) {
    for (int i = 0; i < cells_x; ++i) {
      const int32_t a = i + (cells_x + 1) * j, b = a + cells_x + 1;
      sheet.triangles.push_back({a, a + 1, b});
      sheet.triangles.push_back({a + 1, b + 1, b});
    }
  }
  return OfItsVertices(sheet);
}

// A ball that is much finer than the two elements that carry it.
Part BallInTwoElements() {
  const MeshData ball = testing::Sphere(Vec3::Zero(), 0.012, 1);
  std::vector<Vec3> nodes = {{0.06, 0, 0}, {-0.03, 0.052, 0}, {-0.03, -0.052, 0}, {0, 0, 0.04}, {0, 0, -0.04}};
  const absl::StatusOr<TetMesh> tets = TetMesh::Create(nodes, {{0, 1, 2, 3}, {0, 2, 1, 4}});
  EXPECT_TRUE(tets.ok()) << tets.status();
  const absl::StatusOr<Embedding> embedding = Embedding::Create(*tets, ball.vertices);
  EXPECT_TRUE(embedding.ok()) << embedding.status();
  return {ball, embedding->rows(), nodes};
}

// One triangle whose vertices are on the line between two nodes, or at one node.
Part Degenerate(int32_t nodes) {
  Part part;
  for (int32_t n = 0; n < nodes; ++n) part.nodes.emplace_back(0.02 * n, 0, 0);
  for (const double at : {0.0, 1.0, 0.5}) {
    const int32_t last = nodes - 1;
    part.surface.vertices.push_back((1 - at) * part.nodes[0] + at * part.nodes[last]);
    part.rows.push_back({{0, last, 0, 0}, {nodes > 1 ? 1 - at : 1, at, 0, 0}, nodes > 1 ? 2 : 1});
  }
  part.surface.triangles = {{0, 1, 2}};
  return part;
}

// `sheet`: which of them is one; -1: none.
Model ModelOf(const std::vector<Part>& parts, const Vec3& around, int sheet) {
  Model model;
  model.contact.dhat_m = kDhat;
  model.contact.form = BarrierForm::kPerPair;
  std::vector<std::vector<Vec3>> positions;
  std::vector<std::vector<Triangle>> triangles;
  for (const Part& part : parts) {
    const Vec3 place = around + Vec3(0.15 * static_cast<double>(positions.size()), 0, 0);
    Body body;
    body.nodes = {model.node_count, model.node_count + static_cast<int32_t>(part.nodes.size())};
    model.bodies.push_back(body);
    for (EmbeddingRow row : part.rows) {
      for (int k = 0; k < row.count; ++k) row.nodes[k] += model.node_count;
      model.embedding.push_back(row);
    }
    for (const Vec3& p : part.nodes) model.initial_positions.push_back(place + p);
    model.node_count = body.nodes.end;
    positions.push_back(part.surface.vertices);
    for (Vec3& p : positions.back()) p += place;
    triangles.push_back(part.surface.triangles);
  }
  CollisionSurface& s = model.surface = BuildCollisionSurface(positions, triangles);
  s.sheets.body_thin.assign(parts.size(), 0);
  s.sheets.body_half_thickness.assign(parts.size(), 0);
  if (sheet >= 0) {
    s.sheets.body_thin[sheet] = 1;
    s.sheets.body_half_thickness[sheet] = 0.25 * kDhat;
    s.sheets.largest_offset = 0.5 * kDhat;
  }
  s.sheets.near_start = {0};
  for (int32_t v = 0; v < s.vertex_count; ++v) {
    for (int32_t w = 0; w < s.vertex_count; ++w) {
      const bool near =
          s.vertex_body[v] == sheet && s.vertex_body[w] == sheet && (s.rest_positions[v] - s.rest_positions[w]).norm() < 0.018;
      if (near) s.sheets.near_vertices.push_back(w);
    }
    s.sheets.near_start.push_back(static_cast<int64_t>(s.sheets.near_vertices.size()));
  }
  model.surface_offset.assign(s.vertex_count, Vec3::Zero());
  model.summaries = SurfaceSummaries::Create(s, model.embedding, model.initial_positions);
  return model;
}

constexpr int kSheet = 1;

Model Bodies(const Vec3& around) {
  MeshData triangle, tet;
  tet.vertices = {{0, 0, 0}, {0.02, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}};
  tet.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  triangle.vertices = {{0, 0, 0}, {0.03, 0, 0}, {0, 0.02, 0}};
  triangle.triangles = {{0, 1, 2}};
  const std::vector<Part> parts = {Bar(5),        Sheet(7, 3),  BallInTwoElements(), OfItsVertices(tet), OfItsVertices(triangle),
                                   Degenerate(2), Degenerate(1)};
  return ModelOf(parts, around, kSheet);
}

class GuardedBodies {
 public:
  GuardedBodies(const Vec3& around, uint64_t seed)
      : model_(Bodies(around)),
        pool_(1),
        surface_(&model_, false, nullptr),
        guard_(&model_, &surface_, &terms_, &pool_, nullptr),
        random_(seed),
        all_(testing::AllPairs(model_.surface, kDhat)),
        asleep_(model_.bodies.size(), 0),
        around_(around) {
    for (Candidate& c : all_) {
      const int32_t a = model_.surface.vertex_body[c.v[0]], b = model_.surface.vertex_body[c.v[2]];
      const PairRange range =
          c.of_one_body ? OwnRange(model_.surface, c.kind, c.v, kDhat) : RangeBetween(model_.surface, a, b, kDhat);
      c.dhat = range.dhat;
      c.offset = range.offset;
    }
    q_ = Apart();
  }

  void TakeStep();

  struct Seen {
    int contacts = 0, self_contacts = 0, moves = 0, stopped = 0, stopped_by_themselves = 0, meet = 0, short_stopped = 0;
  };
  const Seen& seen() const { return seen_; }

 private:
  // Every body as it is at rest, turned in some way, and far from the others.
  VecX Apart() {
    VecX q(3 * model_.node_count);
    for (size_t b = 0; b < model_.bodies.size(); ++b) {
      const Quat turn = random_.Rotation();
      const Vec3 at = around_ + Vec3(0.15 * static_cast<double>(b), 0, 0);
      const IndexRange& nodes = model_.bodies[b].nodes;
      for (int32_t n = nodes.begin; n < nodes.end; ++n) q.segment<3>(3 * n) = at + turn * (model_.initial_positions[n] - at);
    }
    return q;
  }

  Vec3 Centre(const IndexRange& nodes, const VecX& q) const {
    Vec3 centre = Vec3::Zero();
    for (int32_t n = nodes.begin; n < nodes.end; ++n) centre += (q.segment<3>(3 * n) - around_) / nodes.size();
    return around_ + centre;
  }

  // Back to the shape at rest, by this part of the way.
  void Relax(const IndexRange& nodes, double share, VecX* q) const {
    Vec3 centre = Centre(nodes, *q), rest = Vec3::Zero();
    for (int32_t n = nodes.begin; n < nodes.end; ++n) rest += model_.initial_positions[n] / nodes.size();
    Mat3 moment = Mat3::Zero();
    for (int32_t n = nodes.begin; n < nodes.end; ++n) {
      moment += (q->segment<3>(3 * n) - centre) * (model_.initial_positions[n] - rest).transpose();
    }
    const Mat3 turn = PolarRotation(moment);
    for (int32_t n = nodes.begin; n < nodes.end; ++n) {
      const Vec3 goal = centre + turn * (model_.initial_positions[n] - rest);
      q->segment<3>(3 * n) += share * (goal - q->segment<3>(3 * n));
    }
  }

  // What is on one side of a plane through the body turns about a line in that plane.
  void Fold(const IndexRange& nodes, double angle, VecX* q) {
    const Vec3 hinge = q->segment<3>(3 * random_.Integer(nodes.begin, nodes.end - 1));
    const Vec3 normal = random_.Direction();
    const Quat turn(Eigen::AngleAxisd(angle, normal.cross(random_.Direction()).normalized()));
    for (int32_t n = nodes.begin; n < nodes.end; ++n) {
      const Vec3 arm = q->segment<3>(3 * n) - hinge;
      if (arm.dot(normal) > 0) q->segment<3>(3 * n) = hinge + turn * arm;
    }
  }

  // Every body that is awake, but for some, turns about an axis anywhere near it, folds, drifts to the middle and trembles.
  VecX Moved(const VecX& q) {
    VecX out = q;
    const double turn_by = random_.LogUniform(1e-3, 6), shift_by = random_.LogUniform(1e-5, 0.05);
    for (size_t b = 0; b < model_.bodies.size(); ++b) {
      const IndexRange& nodes = model_.bodies[b].nodes;
      if (asleep_[b] != 0 || random_.Integer(0, 3) == 0) continue;
      const int act = random_.Integer(0, 4);
      if (act == 0) Relax(nodes, random_.Uniform(0, 1), &out);
      if (act == 1 || act == 2) Fold(nodes, random_.Uniform(-1, 1) * std::min(turn_by, 1.5), &out);
      const Vec3 about = Centre(nodes, out) + random_.Cube(random_.Integer(0, 1) == 0 ? 0 : 0.03);
      const Quat turn(Eigen::AngleAxisd(random_.Uniform(-1, 1) * turn_by, random_.Direction()));
      const Vec3 shift = random_.Cube(shift_by) + (around_ - about) * std::min(1.0, shift_by / 0.05);
      const double tremble = act == 3 ? std::min(shift_by, 4e-3) : 0;
      for (int32_t n = nodes.begin; n < nodes.end; ++n) {
        out.segment<3>(3 * n) = about + shift + turn * (out.segment<3>(3 * n) - about) + random_.Cube(tremble);
      }
    }
    return out;
  }

  // Some bodies are where no point is, or so far away that squares are no numbers.
  VecX Broken(const VecX& q) {
    VecX out = q;
    const double nowhere = random_.Integer(0, 1) == 0 ? std::nan("") : 1e200;
    for (size_t b = 0; b < model_.bodies.size(); ++b) {
      if (random_.Integer(0, 1) == 0) continue;
      for (int32_t n = model_.bodies[b].nodes.begin; n < model_.bodies[b].nodes.end; ++n)
        out[3 * n + random_.Integer(0, 2)] = nowhere;
    }
    return out;
  }

  std::vector<Vec3> Positions(const VecX& q) const {
    std::vector<Vec3> x(model_.surface.vertex_count);
    surface_.map().Positions(q, &x);
    return x;
  }

  bool Rests(const Candidate& c) const {
    return asleep_[model_.surface.vertex_body[c.v[0]]] && asleep_[model_.surface.vertex_body[c.v[2]]];
  }

  // The pairs whose boxes come near on a straight path, of one body or of two.
  std::vector<Candidate> NearOnPath(const std::vector<Vec3>& x0, const std::vector<Vec3>& x1, bool of_one_body) const {
    std::vector<Candidate> out;
    for (const Candidate& c : all_) {
      if (c.of_one_body != of_one_body || Rests(c)) continue;
      const int split = c.kind == ContactKind::kPointTriangle ? 1 : 2;
      Box sides[2];
      for (int k = 0; k < 4; ++k) {
        sides[k >= split].Include(x0[c.v[k]]);
        sides[k >= split].Include(x1[c.v[k]]);
      }
      const double apart = (sides[0].lo - sides[1].hi).max(sides[1].lo - sides[0].hi).maxCoeff();
      if (apart <= 1.1 * c.reach()) out.push_back(c);
    }
    return out;
  }

  std::set<PairName> Contacts(const std::vector<Candidate>& candidates, const std::vector<Vec3>& x,
                              const DisplacementBounds* travel) {
    ContactSet contacts(&model_.surface, &model_.contact_weights, model_.contact);
    contacts.Update(candidates, x, &pool_, travel);
    std::set<PairName> names;
    for (const ContactStencil& s : contacts.stencils()) {
      // Vertices name a pair as well as features do, where edges come in either order.
      const int32_t first = s.kind == ContactKind::kEdgeEdge
                                ? std::min(s.v[0], s.v[1]) * model_.surface.vertex_count + std::max(s.v[0], s.v[1])
                                : s.v[0];
      const int32_t second = s.kind == ContactKind::kEdgeEdge
                                 ? std::min(s.v[2], s.v[3]) * model_.surface.vertex_count + std::max(s.v[2], s.v[3])
                                 : (s.v[1] * model_.surface.vertex_count + s.v[2]) * model_.surface.vertex_count + s.v[3];
      const bool swap = s.kind == ContactKind::kEdgeEdge && second < first;
      EXPECT_TRUE(names.insert({s.kind, swap ? second : first, swap ? first : second}).second) << "named twice";
      seen_.self_contacts += s.body_a == s.body_b;
    }
    seen_.contacts += static_cast<int>(names.size());
    return names;
  }

  void ExpectContactsComplete(const VecX& q) {
    const std::vector<Vec3> x = Positions(q);
    std::vector<Candidate> near = NearOnPath(x, x, true), others = NearOnPath(x, x, false);
    near.insert(near.end(), others.begin(), others.end());
    const std::set<PairName> expected = Contacts(near, x, nullptr);
    ASSERT_EQ(Contacts(surface_.broad_phase().candidates(), surface_.x(), &surface_.travel()), expected);
  }

  // As the exact check asks for them.
  void ExpectMeetingTrianglesNamed(const VecX& q) {
    if (std::any_of(asleep_.begin(), asleep_.end(), [](uint8_t a) { return a != 0; })) return;
    testing::ExpectNearTrianglesNamed(model_.surface, surface_.broad_phase(), surface_.travel(), Positions(q), &seen_.meet);
  }

  double Rounding(const VecX& from, const VecX& to) const {
    return 8 * 1.2e-16 * model_.summaries.largest_weight_sum * std::max(from.cwiseAbs().maxCoeff(), to.cwiseAbs().maxCoeff());
  }

  // Where the gaps are known, moves that are short beside them need no collision detection, and have the same free part.
  void ExpectShortMovesAlike(const VecX& q, const VecX& dq) {
    ContactSet contacts(&model_.surface, &model_.contact_weights, model_.contact);
    std::vector<Candidate> awake;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(awake), [this](const Candidate& c) { return !Rests(c); });
    contacts.Update(awake, Positions(q), &pool_);
    const double gap = std::min(contacts.min_gap(), kDhat), whole = surface_.Displacement(q, q + dq);
    for (const double share : {0.01, 0.2, 0.6, 1.5}) {
      if (whole == 0) return;
      const VecX part = (share * gap / whole) * dq;
      const double free = guard_.MaxStep(part);
      EXPECT_EQ(guard_.MaxStep(part, contacts.min_gap()), free);
      seen_.short_stopped += free < 1;
    }
  }

  // The free part of a move, which is examined whole.
  double ExpectMoveIsExamined(const VecX& q, const VecX& dq) {
    const VecX there = q + dq;
    ExpectShortMovesAlike(q, dq);
    const double free = guard_.MaxStep(dq);
    EXPECT_NE(guard_.limited_by(), StepLimit::kIterations);
    const std::vector<Vec3> x0 = Positions(q), x1 = Positions(there);
    const SurfaceMotion motion = {x0, x1, Rounding(q, there)};
    const double alone = CollisionFreeStep(NearOnPath(x0, x1, true), motion, &pool_);
    const double expected = std::min(alone, CollisionFreeStep(NearOnPath(x0, x1, false), motion, &pool_));
    EXPECT_NEAR(free, expected, 1e-9);
    ++seen_.moves;
    seen_.stopped += expected < 1;
    seen_.stopped_by_themselves += expected < 1 && alone == expected;
    return free;
  }

  Model model_;
  ModelTerms terms_;
  ThreadPool pool_;
  SurfaceState surface_;
  CollisionGuard guard_;
  Random random_;
  std::vector<Candidate> all_;
  std::vector<uint8_t> asleep_;
  Vec3 around_;
  VecX q_;
  std::vector<VecX> before_;  // states to return to
  int stuck_ = 0;
  Seen seen_;
};

void GuardedBodies::TakeStep() {
  if (random_.Integer(0, 5) == 0) {
    for (uint8_t& asleep : asleep_) asleep = random_.Integer(0, 3) == 0;
  }
  surface_.SetAsleep(asleep_);
  if (stuck_ > 3 || random_.Integer(0, 40) == 0) {
    q_ =
        random_.Integer(0, 1) == 0 || before_.empty() ? Apart() : before_[random_.Integer(0, static_cast<int>(before_.size()) - 1)];
    stuck_ = 0;
  }
  const VecX guess = Moved(q_);
  guard_.BeginStep(100);  // so that moves are examined whole
  surface_.BeginStep(q_, guess, surface_.Displacement(q_, guess));
  VecX at = q_;
  surface_.SetPoint(at);
  for (int point = 0; point < 3; ++point) {
    if (random_.Integer(0, 3) == 0) {  // what a solve that went wrong asks for on its way
      surface_.SetPoint(Broken(at));
      surface_.SetPoint(at);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectContactsComplete(at));
    const VecX dq = (point == 0 ? guess : Moved(at)) - at;
    const double free = ExpectMoveIsExamined(at, dq);
    ASSERT_NO_FATAL_FAILURE(ExpectContactsComplete(at));
    if (point == 0) {  // as if nothing limited moves: surfaces may meet there
      const VecX beyond = at + random_.Uniform(0.3, 1) * dq;
      surface_.SetPoint(beyond);
      ASSERT_NO_FATAL_FAILURE(ExpectContactsComplete(beyond));
      ASSERT_NO_FATAL_FAILURE(ExpectMeetingTrianglesNamed(beyond));
    }
    stuck_ = free < 1e-3 ? stuck_ + 1 : 0;
    at = at + (random_.Integer(0, 1) == 0 ? 1 : random_.Uniform(0, 1)) * free * dq;
    surface_.SetPoint(at);
  }
  q_ = at;
  before_.push_back(q_);
}

TEST(CollisionGuard, FindsWhatAllPairsHaveOfBodiesThatTurnAndFold) {
  GuardedBodies::Seen sum;
  for (const double far : {0.0, 3e3}) {
    GuardedBodies bodies(Vec3(far, -far, 0.5 * far), 5);
    for (int step = 0; step < 80; ++step) {
      ASSERT_NO_FATAL_FAILURE(bodies.TakeStep()) << step << " at " << far << " m";
      ASSERT_FALSE(::testing::Test::HasFailure()) << step << " at " << far << " m";
    }
    sum.contacts += bodies.seen().contacts;
    sum.self_contacts += bodies.seen().self_contacts;
    sum.moves += bodies.seen().moves;
    sum.stopped += bodies.seen().stopped;
    sum.stopped_by_themselves += bodies.seen().stopped_by_themselves;
    sum.meet += bodies.seen().meet;
    sum.short_stopped += bodies.seen().short_stopped;
  }
  EXPECT_GT(sum.contacts, 1000);
  EXPECT_GT(sum.self_contacts, 500);
  EXPECT_GT(sum.moves, 300);
  EXPECT_GT(sum.stopped, 100);
  EXPECT_GT(sum.stopped_by_themselves, 25);
  EXPECT_GT(sum.meet, 50);
  EXPECT_GT(sum.short_stopped, 20);
}

// Two triangles, one above the middle of the other, that both move the same way towards each other; `apart` at rest, m.
struct FacingTriangles {
  FacingTriangles(double apart, bool one_body) : pool(1) {
    MeshData below, above;
    below.vertices = {{-0.02, -0.02, 0}, {0.03, -0.02, 0}, {-0.02, 0.03, 0}};
    below.triangles = {{0, 1, 2}};
    above.vertices = {{0, 0, apart}, {0.001, 0, apart + 0.01}, {0, 0.001, apart + 0.01}};
    above.triangles = {{0, 1, 2}};
    MeshData both = below;
    both.vertices.insert(both.vertices.end(), above.vertices.begin(), above.vertices.end());
    both.triangles.push_back({3, 4, 5});
    model = one_body ? ModelOf({OfItsVertices(both)}, Vec3::Zero(), -1)
                     : ModelOf({OfItsVertices(below), OfItsVertices(above)}, Vec3::Zero(), -1);
    q.resize(18);
    for (int32_t n = 0; n < 6; ++n) q.segment<3>(3 * n) = both.vertices[n];
  }
  // The free part of a move by which each comes nearer by half of `by`, from where they are `gap` apart.
  double FreePart(double gap, double by) {
    SurfaceState surface(&model, false, nullptr);
    ModelTerms terms;
    CollisionGuard guard(&model, &surface, &terms, &pool, nullptr);
    VecX at = q, move(18);
    for (int32_t n = 0; n < 6; ++n) {
      if (n >= 3) at[3 * n + 2] += gap - q[11];
      move.segment<3>(3 * n) = Vec3(0, 0, n < 3 ? 0.5 * by : -0.5 * by);
    }
    guard.BeginStep(1);
    surface.BeginStep(at, at + move, by);
    surface.SetPoint(at);
    ContactSet contacts(&model.surface, &model.contact_weights, model.contact);
    contacts.Update(surface.broad_phase().candidates(), surface.x(), &pool);
    least_gap = contacts.min_gap();
    return guard.MaxStep(move, least_gap);
  }

  Model model;
  ThreadPool pool;
  VecX q;
  double least_gap = 0;
};

TEST(CollisionGuard, KnowsThatBothSidesComeNearer) {
  FacingTriangles of_two(0.1, false);
  const double gap = 0.6 * kDhat;
  EXPECT_LT(of_two.FreePart(gap, 0.95 * gap), 1);
  EXPECT_NEAR(of_two.least_gap, gap, 1e-12);
  EXPECT_LT(of_two.FreePart(gap, 0.9 * gap), 1);
  EXPECT_EQ(of_two.FreePart(gap, 0.7 * gap), 1);
}

// What is farther apart than its own dhat has no gap among the contacts.
TEST(CollisionGuard, KnowsPairsThatHaveASmallerDhatOfTheirOwn) {
  const double apart = 0.05 * kDhat;
  FacingTriangles of_one(apart, true);
  const double gap = 1.1 * kSelfContactShare * apart;
  EXPECT_LT(of_one.FreePart(gap, 0.99 * gap), 1);
  EXPECT_TRUE(std::isinf(of_one.least_gap));
  EXPECT_EQ(of_one.FreePart(gap, 0.5 * gap), 1);
}

// Edges of L that cross at so small an angle count as parallel, and their distance as up to 5e-8 L more than it is.
TEST(CollisionGuard, KnowsHowFarOffDistancesOfLongEdgesAre) {
  for (const double length : {100.0, 1000.0}) {
    for (const double gap : {4e-6, 2e-5}) {
      const double half = 0.5 * length, rise = half * 0.95e-7;
      MeshData below, above;
      below.vertices = {{-half, 0, 0}, {half, 0, 0}, {0, 0, -1}};
      above.vertices = {{-half, -rise, gap}, {half, rise, gap}, {0, 0, 1 + gap}};
      below.triangles = above.triangles = {{0, 1, 2}};
      Model model = ModelOf({OfItsVertices(below), OfItsVertices(above)}, Vec3::Zero(), -1);
      model.contact.dhat_m = 5 * gap;
      ThreadPool pool(1);
      ModelTerms terms;
      SurfaceState surface(&model, false, nullptr);
      CollisionGuard guard(&model, &surface, &terms, &pool, nullptr);
      VecX q(18), move = VecX::Zero(18);
      for (int32_t n = 0; n < 6; ++n) {
        q.segment<3>(3 * n) = n < 3 ? below.vertices[n] : above.vertices[n - 3];
        move[3 * n + 2] = n < 3 ? 0.75 * gap : -0.75 * gap;
      }
      guard.BeginStep(1);
      surface.BeginStep(q, q + move, surface.Displacement(q, q + move));
      surface.SetPoint(q);
      ContactSet contacts(&model.surface, &model.contact_weights, model.contact);
      contacts.Update(surface.broad_phase().candidates(), surface.x(), &pool);
      EXPECT_GT(contacts.min_gap(), 1.02 * gap) << "or this tests nothing";
      EXPECT_LT(guard.MaxStep(move, contacts.min_gap()), 2.0 / 3) << length << " m, gap " << gap << " m";
    }
  }
}

}  // namespace
}  // namespace eipc
