#include "sim/sensor/shell_reading.h"

#include <algorithm>
#include <cmath>

#include "sim/energy/membrane.h"

namespace eipc {
namespace {

Vec3 NodeAt(const VecX& q, int32_t node) { return q.segment<3>(3 * node); }

// Layers over each cell of a grid, counted at its centre.
class Raster {
 public:
  explicit Raster(const std::vector<Vec2>& points) {
    if (points.empty()) return;
    low_ = high_ = points.front();
    for (const Vec2& p : points) low_ = low_.cwiseMin(p), high_ = high_.cwiseMax(p);
    cell_ = (high_ - low_).maxCoeff() / kCoverageCells;
    if (cell_ > 0) layers_.assign(static_cast<size_t>(kCoverageCells) * kCoverageCells, 0);
  }

  // A centre on an edge of two triangles is counted once: it belongs to the side where the edge's line is not negative.
  void Add(const Vec2& a, Vec2 b, Vec2 c) {
    if (layers_.empty()) return;
    const auto cross = [](const Vec2& u, const Vec2& v) { return u.x() * v.y() - u.y() * v.x(); };
    if (cross(b - a, c - a) < 0) std::swap(b, c);
    const Vec2 lo = a.cwiseMin(b).cwiseMin(c) - low_, hi = a.cwiseMax(b).cwiseMax(c) - low_;
    const auto index = [this](double at) { return std::clamp(static_cast<int>(std::floor(at / cell_)), 0, kCoverageCells - 1); };
    const auto covers = [&cross](const Vec2& from, const Vec2& to, const Vec2& p) {
      const double side = cross(to - from, p - from);
      // On the line itself the edge's direction decides, so that one of the two triangles has it.
      return side > 0 || (side == 0 && (to.y() > from.y() || (to.y() == from.y() && to.x() > from.x())));
    };
    for (int j = index(lo.y()); j <= index(hi.y()); ++j) {
      for (int i = index(lo.x()); i <= index(hi.x()); ++i) {
        const Vec2 p = low_ + cell_ * Vec2(i + 0.5, j + 0.5);
        if (covers(a, b, p) && covers(b, c, p) && covers(c, a, p)) ++layers_[static_cast<size_t>(j) * kCoverageCells + i];
      }
    }
  }

  Coverage Count() const {
    Coverage out;
    int64_t covered = 0, sum = 0;
    for (const int32_t n : layers_) {
      covered += n > 0;
      sum += n;
      out.most_layers = std::max(out.most_layers, n);
    }
    out.area_m2 = static_cast<double>(covered) * cell_ * cell_;
    out.mean_layers = covered > 0 ? static_cast<double>(sum) / static_cast<double>(covered) : 0;
    return out;
  }

 private:
  Vec2 low_ = Vec2::Zero(), high_ = Vec2::Zero();
  double cell_ = 0;
  std::vector<int32_t> layers_;
};

Coverage CoverageAlong(const ShellBody& shell, const IndexRange& nodes, const VecX& q, Vec3 direction) {
  direction = direction.norm() > 0 ? Vec3(direction.normalized()) : Vec3(0, 0, -1);
  const Vec3 u = direction.unitOrthogonal(), v = direction.cross(u);
  std::vector<Vec2> points;
  for (int32_t n = nodes.begin; n < nodes.end; ++n) points.emplace_back(u.dot(NodeAt(q, n)), v.dot(NodeAt(q, n)));
  Raster raster(points);
  for (const Triangle& t : shell.triangles) {
    raster.Add(points[t[0] - nodes.begin], points[t[1] - nodes.begin], points[t[2] - nodes.begin]);
  }
  return raster.Count();
}

OpeningReading ReadOpening(const ShellMarks::Opening& opening, const VecX& q) {
  Vec3 area = Vec3::Zero();
  const Vec3 origin = NodeAt(q, opening.nodes.front());
  for (size_t i = 0; i < opening.nodes.size(); ++i) {
    const Vec3 a = NodeAt(q, opening.nodes[i]) - origin, b = NodeAt(q, opening.nodes[(i + 1) % opening.nodes.size()]) - origin;
    area += 0.5 * a.cross(b);
  }
  return {opening.name, area.norm(), area.norm() > 0 ? Vec3(area.normalized()) : Vec3(Vec3::Zero())};
}

KeypointReading ReadKeypoint(const ShellMarks::Keypoint& keypoint, const State& state) {
  KeypointReading out = {keypoint.name, Vec3::Zero(), Vec3::Zero()};
  for (size_t k = 0; k < keypoint.nodes.size(); ++k) {
    out.position += keypoint.weights[k] * NodeAt(state.q, keypoint.nodes[k]);
    out.velocity += keypoint.weights[k] * NodeAt(state.v, keypoint.nodes[k]);
  }
  return out;
}

}  // namespace

std::optional<ShellReading> ReadShell(const Model& model, const State& state, int body) {
  const auto shell = std::find_if(model.shells.begin(), model.shells.end(), [body](const ShellBody& s) { return s.body == body; });
  if (shell == model.shells.end()) return std::nullopt;
  const ShellMarks& marks = model.shell_marks[static_cast<size_t>(shell - model.shells.begin())];
  ShellReading out;
  for (const ShellMarks::Keypoint& keypoint : marks.keypoints) out.keypoints.push_back(ReadKeypoint(keypoint, state));
  for (const ShellMarks::Opening& opening : marks.openings) out.openings.push_back(ReadOpening(opening, state.q));
  if (!marks.fold_pairs.empty()) {
    double sum = 0;
    for (const auto& [vertex, onto] : marks.fold_pairs) sum += (NodeAt(state.q, vertex) - NodeAt(state.q, onto)).norm();
    out.fold_error_m = sum / static_cast<double>(marks.fold_pairs.size());
  }
  for (const double area : shell->area) out.rest_area_m2 += area;
  out.coverage = CoverageAlong(*shell, model.bodies[body].nodes, state.q, model.gravity);
  for (size_t t = 0; t < shell->triangles.size(); ++t) {
    out.stretches.push_back(Stretches(MembraneGradient(*shell, t, state.q)).s);
    out.tensions_n_m.push_back(PrincipalTensions(shell->membrane, out.stretches.back()));
  }
  return out;
}

}  // namespace eipc
