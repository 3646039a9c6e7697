#include "sim/audit/audit.h"

#include <algorithm>
#include <set>

#include "sim/audit/box_tree.h"
#include "sim/audit/exact_triangles.h"
#include "sim/audit/nesting.h"

namespace eipc {
namespace {

using Pairs = std::vector<std::pair<int32_t, int32_t>>;

// The first pairs of all that are added, and how many there are: of a scene in which everything is at one place, these are too many
// to be kept.
class FirstPairs {
 public:
  explicit FirstPairs(int most) : most_(static_cast<size_t>(std::max(most, 0))) {}

  void Add(int32_t s, int32_t t) {
    ++count_;
    first_.emplace(s, t);
    if (first_.size() > most_) first_.erase(std::prev(first_.end()));
  }
  int64_t count() const { return count_; }
  Pairs Sorted() const { return {first_.begin(), first_.end()}; }

 private:
  const size_t most_;
  std::set<std::pair<int32_t, int32_t>> first_;
  int64_t count_ = 0;
};

class Audit {
 public:
  Audit(const AuditInput& input, int max_pairs)
      : in_(input),
        x_(*input.vertices),
        bodies_(input.body_count),
        meetings_(max_pairs),
        crossing_(static_cast<size_t>(input.body_count) * input.body_count, false) {}

  AuditReport Run(bool check_nesting) {
    BuildTrees();
    for (int32_t a = 0; a < in_.body_count; ++a) {
      for (int32_t b = a; b < in_.body_count && !Raised(in_.interrupt); ++b) {
        if (Enabled(a, b) || Enabled(b, a)) FindMeetings(a, b);
      }
    }
    AuditReport report;
    report.intersection_count = meetings_.count();
    report.intersections = meetings_.Sorted();
    if (check_nesting) report.nested = FindNested();
    return report;
  }

 private:
  static constexpr int64_t kTestsPerPoll = 64;  // a test takes some tenths of a microsecond, or some with rational numbers

  struct Body {
    AuditBody surface;
    BoxTree tree;
    bool finite = true;
  };

  size_t Index(int32_t a, int32_t b) const { return static_cast<size_t>(a) * in_.body_count + b; }
  bool Enabled(int32_t a, int32_t b) const { return (*in_.pair_enabled)[Index(a, b)] != 0; }

  // A triangle that is not finite or has collapsed has no inside to test: it is reported against itself. (A collapsed triangle of a
  // closed surface makes its neighbours touch beyond what they share, so this adds no false alarm; and its edges are theirs too, so
  // other bodies still meet it.)
  void BuildTrees() {
    std::vector<std::vector<BoxTree::Item>> items(in_.body_count);
    for (size_t t = 0; t < in_.triangles->size(); ++t) {
      const Triangle& tri = (*in_.triangles)[t];
      const Vec3 &a = x_[tri[0]], &b = x_[tri[1]], &c = x_[tri[2]];
      const int32_t body = (*in_.triangle_body)[t], id = static_cast<int32_t>(t);
      bodies_[body].surface.triangles.push_back(tri);
      const bool finite = a.allFinite() && b.allFinite() && c.allFinite();
      bodies_[body].finite &= finite;
      if (!finite || ExactlyCollinear(a, b, c)) {
        if (!finite || Enabled(body, body)) meetings_.Add(id, id);
        continue;
      }
      items[body].push_back({{a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)}, id});
    }
    for (int32_t b = 0; b < in_.body_count; ++b) bodies_[b].tree = BoxTree(std::move(items[b]));
  }

  void FindMeetings(int32_t a, int32_t b) {
    const auto test = [&](int32_t s, int32_t t) {
      if (TrianglesMeet(x_, (*in_.triangles)[s], (*in_.triangles)[t])) {
        meetings_.Add(s, t);
        crossing_[Index(a, b)] = true;
      }
      return ++tested_ % kTestsPerPoll != 0 || !Raised(in_.interrupt);
    };
    if (a == b) {
      bodies_[a].tree.SelfPairs(test);
    } else {
      bodies_[a].tree.CrossPairs(bodies_[b].tree, test);
    }
  }

  // Bodies that cross each other are no nest; the others lie inside one another or apart, component by component.
  Pairs FindNested() const {
    Pairs nested;
    for (int32_t outer = 0; outer < in_.body_count; ++outer) {
      const Body& out = bodies_[outer];
      if (!out.finite || out.tree.empty() || !out.surface.IsClosed()) continue;
      for (int32_t inner = 0; inner < in_.body_count; ++inner) {
        if (inner == outer || !bodies_[inner].finite || bodies_[inner].tree.empty()) continue;
        if (!Enabled(inner, outer) && !Enabled(outer, inner)) continue;
        if (crossing_[Index(std::min(inner, outer), std::max(inner, outer))]) continue;
        if (!out.tree.bounds().Meets(bodies_[inner].tree.bounds())) continue;
        const std::vector<int32_t> tests = bodies_[inner].surface.ComponentVertices();
        const bool inside = std::any_of(tests.begin(), tests.end(), [&](int32_t v) {
          return !Raised(in_.interrupt) && out.tree.bounds().Meets({x_[v], x_[v]}) && IsInside(x_, out.surface, x_[v]);
        });
        if (inside) nested.emplace_back(inner, outer);
      }
    }
    std::sort(nested.begin(), nested.end());
    return nested;
  }

  const AuditInput& in_;
  const std::vector<Vec3>& x_;
  std::vector<Body> bodies_;
  FirstPairs meetings_;
  std::vector<bool> crossing_;  // by pair of bodies, the smaller first: whether their surfaces meet
  int64_t tested_ = 0;
};

}  // namespace

AuditReport AuditSurfaces(const AuditInput& input, bool check_nesting, int max_pairs) {
  return Audit(input, max_pairs).Run(check_nesting);
}

std::vector<int32_t> InvertedTets(const std::vector<Vec3>& vertices, const std::vector<Tet>& tets) {
  std::vector<int32_t> inverted;
  for (size_t t = 0; t < tets.size(); ++t) {
    const Vec3 &a = vertices[tets[t][0]], &b = vertices[tets[t][1]], &c = vertices[tets[t][2]], &d = vertices[tets[t][3]];
    const bool finite = a.allFinite() && b.allFinite() && c.allFinite() && d.allFinite();
    if (!finite || ExactOrientation(a, b, c, d) <= 0) inverted.push_back(static_cast<int32_t>(t));
  }
  return inverted;
}

}  // namespace eipc
