#include "sim/collision/surface_summaries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "sim/collision/interrupt_poll.h"
#include "sim/collision/interruptible_surface.h"
#include "sim/geometry/tree_pairs.h"

namespace eipc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Pairs of triangles that are farther apart than this part of their edges' sum have an rms_factor of at most kFarFactor.
constexpr double kNear = 0.5;
const double kFarFactor = std::sqrt(1 + 1 / (3 * kNear * kNear));
// Features that are closer than this part of their edges are too close to rely on.
constexpr double kTooClose = 1e-4;
// To each element of a surface of which it is worth while to prove that parts of it do not touch each other: where there are fewer,
// most triangles straddle elements, and to examine them costs less.
constexpr int32_t kManyTriangles = 16;
// Nodes of fewer triangles have no boxes of their own: the boxes of the triangles are tighter and hardly cost more.
constexpr int32_t kFewTriangles = 8;

// The cage elements of all vertices: -1 where a vertex has none. A vertex that is a node belongs to any element that has the node.
std::vector<int32_t> FindElements(const CollisionSurface& surface, const std::vector<EmbeddingRow>& rows,
                                  const std::vector<Vec3>& rest, InterruptPoll* poll, std::vector<CageElement>* elements) {
  std::map<std::array<int32_t, 4>, int32_t> known;
  std::map<int32_t, int32_t> element_of_node;
  std::vector<int32_t> element(rows.size(), -1);
  for (size_t v = 0; v < rows.size() && !poll->Stop(); ++v) {
    if (rows[v].count != 4) continue;
    std::array<int32_t, 4> name = rows[v].nodes;
    std::sort(name.begin(), name.end());
    const auto [it, is_new] = known.emplace(name, static_cast<int32_t>(elements->size()));
    element[v] = it->second;
    if (!is_new) continue;
    CageElement p;
    p.nodes = rows[v].nodes;
    p.origin = rest[p.nodes[0]];
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = rest[p.nodes[k + 1]] - p.origin;
    p.inverse_rest = edges.inverse();
    p.body = surface.vertex_body[v];
    for (int32_t n : p.nodes) element_of_node.emplace(n, it->second);
    elements->push_back(p);
  }
  for (size_t v = 0; v < rows.size(); ++v) {
    if (rows[v].count != 1) continue;
    const auto it = element_of_node.find(rows[v].nodes[0]);
    if (it != element_of_node.end()) element[v] = it->second;
  }
  return element;
}

// Twice over the least that unit vectors of two cones can differ by, from the best of a few planes between them: n . u is at least
// the smallest n . r of a cone's unit rays r, if that is positive.
double PathDistortion(const std::vector<Vec3>& rays_a, const std::vector<Vec3>& rays_b) {
  std::vector<Vec3> normals;
  Vec3 mean = Vec3::Zero();
  for (const Vec3& r : rays_a) mean += r / static_cast<double>(rays_a.size());
  for (const Vec3& r : rays_b) mean -= r / static_cast<double>(rays_b.size());
  normals.push_back(mean);
  for (const Vec3& r : rays_a) {
    for (const Vec3& t : rays_b) {
      normals.push_back(r - t);
      normals.push_back(r.cross(t));
      normals.push_back(t.cross(r));
    }
  }
  double best = 0;
  for (Vec3 n : normals) {
    if (!(n.norm() > 1e-9)) continue;
    n.normalize();
    double a = 1, b = 1;
    for (const Vec3& r : rays_a) a = std::min(a, n.dot(r));
    for (const Vec3& r : rays_b) b = std::min(b, -n.dot(r));
    if (a >= 0 && b >= 0) best = std::max(best, a + b);
  }
  return best > 0 ? 2 / best : kInfinity;
}

// Infinite where they have nothing in common, or lie within each other.
double PathDistortionBetween(const CageElement& a, const CageElement& b, const std::vector<Vec3>& rest) {
  std::vector<int32_t> common, only_a, only_b;
  for (int32_t n : a.nodes) (std::count(b.nodes.begin(), b.nodes.end(), n) ? common : only_a).push_back(n);
  for (int32_t n : b.nodes) {
    if (!std::count(a.nodes.begin(), a.nodes.end(), n)) only_b.push_back(n);
  }
  if (common.empty()) return kInfinity;
  const Vec3& at = rest[common[0]];
  if (common.size() == 3) {
    const Vec3 n = (rest[common[1]] - at).cross(rest[common[2]] - at);
    return n.dot(rest[only_a[0]] - at) * n.dot(rest[only_b[0]] - at) < 0 ? 1 : kInfinity;
  }
  std::vector<Vec3> rays_a, rays_b;
  const Vec3 along = common.size() == 2 ? (rest[common[1]] - at).normalized() : Vec3(Vec3::Zero());
  for (const auto& [nodes, rays] : {std::pair(&only_a, &rays_a), std::pair(&only_b, &rays_b)}) {
    for (int32_t n : *nodes) {
      const Vec3 ray = rest[n] - at;
      rays->push_back((ray - along.dot(ray) * along).normalized());  // across a shared edge
    }
  }
  return PathDistortion(rays_a, rays_b);
}

void FindRelatives(const std::vector<Vec3>& rest, Interrupt* interrupt, std::vector<CageElement>* elements) {
  constexpr double kLargestDistortion = 20;  // proves nothing
  // In a star of elements around one node each has all the others as relatives: their number is the square of the elements'. Of
  // such a node nothing is proven; others have some 30 elements.
  constexpr size_t kMostAtNode = 128;
  std::map<int32_t, std::vector<int32_t>> at_node;
  for (size_t p = 0; p < elements->size(); ++p) {
    for (int32_t n : (*elements)[p].nodes) at_node[n].push_back(static_cast<int32_t>(p));
  }
  for (size_t p = 0; p < elements->size() && !Raised(interrupt); ++p) {
    CageElement& element = (*elements)[p];
    std::vector<int32_t> others;
    for (int32_t n : element.nodes) {
      const std::vector<int32_t>& here = at_node[n];
      if (here.size() <= kMostAtNode) others.insert(others.end(), here.begin(), here.end());
    }
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (int32_t other : others) {
      if (other == static_cast<int32_t>(p)) continue;
      const double path_distortion = PathDistortionBetween(element, (*elements)[other], rest);
      if (path_distortion <= kLargestDistortion) element.relatives.push_back({other, path_distortion});
    }
  }
}

void FindNodes(const CollisionSurface& surface, const std::vector<EmbeddingRow>& rows, SurfaceSummaries* out) {
  out->body_nodes.resize(surface.body_count);
  out->fixed.assign(surface.body_count, 1);
  out->edge_length.assign(surface.body_count, 0);
  std::vector<double> edges(surface.body_count, 0);
  for (size_t e = 0; e < surface.edges.size(); ++e) {
    out->edge_length[surface.edge_body[e]] += std::sqrt(surface.edge_rest_length2[e]);
    edges[surface.edge_body[e]] += 1;
  }
  for (int32_t b = 0; b < surface.body_count; ++b) out->edge_length[b] /= std::max(1.0, edges[b]);
  for (size_t v = 0; v < rows.size(); ++v) {
    double sum = 0;
    for (int k = 0; k < rows[v].count; ++k) {
      out->body_nodes[surface.vertex_body[v]].push_back(rows[v].nodes[k]);
      sum += std::abs(rows[v].weights[k]);
    }
    if (rows[v].count > 0) out->fixed[surface.vertex_body[v]] = 0;
    out->largest_weight_sum = std::max(out->largest_weight_sum, sum);
  }
  for (std::vector<int32_t>& nodes : out->body_nodes) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    out->nodes.insert(out->nodes.end(), nodes.begin(), nodes.end());
  }
  std::sort(out->nodes.begin(), out->nodes.end());
}

// Each is the one farthest from those before (the first from the origin), so they reach to all ends of the body.
std::vector<int32_t> SpreadNodes(const std::vector<int32_t>& nodes, const std::vector<Vec3>& rest) {
  std::vector<int32_t> out;
  std::vector<double> distance2(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) distance2[i] = rest[nodes[i]].squaredNorm();
  while (out.size() < std::min(SurfaceSummaries::FrameNodes::kMost, nodes.size())) {
    const int32_t farthest = nodes[std::max_element(distance2.begin(), distance2.end()) - distance2.begin()];
    for (size_t i = 0; i < nodes.size(); ++i) {
      const double to = (rest[nodes[i]] - rest[farthest]).squaredNorm();
      distance2[i] = out.empty() ? to : std::min(distance2[i], to);
    }
    out.push_back(farthest);
  }
  return out;
}

void FindFrameNodes(const CollisionSurface& surface, const std::vector<Vec3>& rest, SurfaceSummaries* out) {
  out->frame_nodes.resize(surface.body_count);
  for (int32_t body = 0; body < surface.body_count; ++body) {
    if (surface.IsThin(body)) continue;
    SurfaceSummaries::FrameNodes& frame = out->frame_nodes[body];
    frame.nodes = SpreadNodes(out->body_nodes[body], rest);
    Vec3 mean = Vec3::Zero();
    for (const int32_t n : frame.nodes) mean += rest[n] / static_cast<double>(frame.nodes.size());
    for (const int32_t n : frame.nodes) frame.rest.push_back(rest[n] - mean);
  }
}

// What the triangles of one body have around them at rest.
struct RestGaps {
  std::vector<double> rms_factor;  // by triangle
  std::vector<double> least_gap;   // m
};

class RestShape {
 public:
  RestShape(const CollisionSurface& surface, const std::vector<int32_t>& element, InterruptPoll* poll)
      : s_(surface), element_(element), poll_(poll) {
    longest_.reserve(s_.triangles.size());
    for (const Triangle& t : s_.triangles) {
      double longest2 = 0;
      for (int k = 0; k < 3; ++k) longest2 = std::max(longest2, (X(t[k]) - X(t[(k + 1) % 3])).squaredNorm());
      longest_.push_back(std::sqrt(longest2));
    }
    out_.rms_factor.assign(s_.triangles.size(), kFarFactor);  // that of a pair may be asked of the one that does not straddle
    for (double length : longest_) out_.least_gap.push_back(kNear * length);
  }

  bool Straddles(int32_t t) const {
    const Triangle& tri = s_.triangles[t];
    return element_[tri[0]] != element_[tri[1]] || element_[tri[0]] != element_[tri[2]];
  }

  void MeasureGaps(int32_t body) {
    const BoundingVolumeTree& tree = s_.trees[body];
    std::vector<Box> boxes;
    tree.Refit([this](int32_t t) { return Around(t); }, &boxes);
    std::vector<std::pair<int32_t, int32_t>> stack;
    ForTreePairs(
        tree, tree, true, &stack,
        [&](int32_t i, int32_t j) { return poll_->stopped() || (i != j && !boxes[i].Overlaps(boxes[j])); },
        [this](int32_t a, int32_t b) { Compare(a, b); });
  }
  const RestGaps& found() const { return out_; }

 private:
  const Vec3& X(int32_t v) const { return s_.rest_positions[v]; }
  Box Around(int32_t t) const {
    Box box;
    for (int32_t v : s_.triangles[t]) box.Include(X(v));
    box.lo -= kNear * longest_[t];
    box.hi += kNear * longest_[t];
    return box;
  }

  void Compare(int32_t a, int32_t b) {
    if (poll_->Stop() || !Around(a).Overlaps(Around(b))) return;
    const double gap = LeastGap(s_.triangles[a], s_.triangles[b], s_.rest_positions), edges = longest_[a] + longest_[b];
    double variance = 0;
    for (int32_t t : {a, b}) variance += Straddles(t) ? longest_[t] * longest_[t] / 3 : 0;
    double rms_factor = std::sqrt(1 + variance / (gap * gap));
    if (!(gap > kTooClose * edges)) rms_factor = kInfinity;
    for (int32_t t : {a, b}) {
      out_.rms_factor[t] = std::max(out_.rms_factor[t], rms_factor);
      out_.least_gap[t] = std::min(out_.least_gap[t], gap);
    }
  }

  const CollisionSurface& s_;
  const std::vector<int32_t>& element_;
  InterruptPoll* const poll_;
  std::vector<double> longest_;
  RestGaps out_;
};

// The summary of a tree node over the triangles [begin, end) of the tree's order.
NodeSummary Summarize(const CollisionSurface& s, const BoundingVolumeTree& tree, const BoundingVolumeTree::Node& node,
                      const std::vector<int32_t>& element, const RestGaps& around, std::vector<SurfaceSummaries::RestBox>* boxes) {
  NodeSummary summary;
  summary.rms_factor = 1;
  summary.least_gap = kInfinity;
  std::array<Box, NodeSummary::kMaxElements> box;
  for (int32_t k = node.begin; k < node.end; ++k) {
    const int32_t t = tree.primitives()[k];
    summary.rms_factor = std::max(summary.rms_factor, around.rms_factor[t]);
    summary.least_gap = std::min(summary.least_gap, around.least_gap[t]);
    for (int32_t v : s.triangles[t]) {
      int slot = 0;
      while (slot < summary.count && summary.elements[slot] != element[v]) ++slot;
      if (element[v] < 0 || slot == NodeSummary::kMaxElements) return {};
      if (slot == summary.count) summary.elements[summary.count++] = element[v];
      box[slot].Include(s.rest_positions[v]);
      summary.straddles |= element[v] != element[s.triangles[t][0]];
    }
  }
  if (node.end - node.begin < kFewTriangles) return summary;
  summary.first_box = static_cast<int32_t>(boxes->size());
  for (int k = 0; k < summary.count; ++k) {
    boxes->push_back({0.5 * (box[k].lo + box[k].hi).matrix(), 0.5 * (box[k].hi - box[k].lo).matrix()});
  }
  return summary;
}

}  // namespace

SurfaceSummaries SurfaceSummaries::Create(const CollisionSurface& surface, const std::vector<EmbeddingRow>& rows,
                                          const std::vector<Vec3>& rest) {
  return SummarizeSurface(surface, rows, rest, nullptr);
}

SurfaceSummaries SummarizeSurface(const CollisionSurface& surface, const std::vector<EmbeddingRow>& rows,
                                  const std::vector<Vec3>& rest, Interrupt* interrupt) {
  SurfaceSummaries out;
  InterruptPoll poll(interrupt);
  FindNodes(surface, rows, &out);
  FindFrameNodes(surface, rest, &out);
  const std::vector<int32_t> element = FindElements(surface, rows, rest, &poll, &out.elements);
  if (poll.stopped()) return out;
  FindRelatives(rest, interrupt, &out.elements);
  out.body_elements.assign(surface.body_count, {0, 0});
  for (int32_t p = 0; p < static_cast<int32_t>(out.elements.size()); ++p) {
    auto& [first, end] = out.body_elements[out.elements[p].body];
    if (end == 0) first = p;
    end = p + 1;
  }
  out.proves.assign(surface.body_count, 0);
  RestShape rest_shape(surface, element, &poll);
  out.node_summaries.resize(surface.body_count);
  for (int32_t body = 0; body < surface.body_count && !Raised(interrupt); ++body) {
    const BoundingVolumeTree& tree = surface.trees[body];
    bool carried = false;
    for (size_t v = 0; v < rows.size() && !carried; ++v) carried = surface.vertex_body[v] == body && element[v] >= 0;
    if (!carried || tree.empty()) continue;
    const auto [first, end] = out.body_elements[body];
    out.proves[body] =
        surface.Enabled(body, body) && static_cast<int32_t>(tree.primitives().size()) >= kManyTriangles * (end - first);
    if (out.proves[body]) rest_shape.MeasureGaps(body);
    // Whole subtrees have too many elements: found out at the first few triangles.
    for (const BoundingVolumeTree::Node& node : tree.nodes()) {
      if (poll.Stop()) break;
      out.node_summaries[body].push_back(Summarize(surface, tree, node, element, rest_shape.found(), &out.boxes));
    }
  }
  out.neighbours.resize(surface.body_count);
  for (int32_t body = 0; body < surface.body_count && !Raised(interrupt); ++body) {
    if (surface.Enabled(body, body) && !out.proves[body]) out.neighbours[body] = FindNeighbourPairs(surface, body, interrupt);
  }
  return out;
}

}  // namespace eipc
