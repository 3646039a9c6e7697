#include "sim/meshing/cage_shaper.h"

#include <algorithm>
#include <cmath>

#include "sim/audit/box_tree.h"
#include "sim/audit/exact_triangles.h"
#include "sim/audit/nesting.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/meshing/tet_tools.h"

namespace eipc {
namespace {

// Moves inward may not push a tet beyond these angles; tets that are worse already may not get worse still.
constexpr double kGoodDeg = 18;
constexpr double kGoodMaxDeg = 155;
// A tet of which two in 35 sample points lie in the solid holds enough of it.
constexpr int kEnoughSamples = 2;

AuditBox BoxOf(const std::vector<Vec3>& x, const Triangle& t) {
  return {x[t[0]].cwiseMin(x[t[1]]).cwiseMin(x[t[2]]), x[t[0]].cwiseMax(x[t[1]]).cwiseMax(x[t[2]])};
}

std::vector<Triangle> BoundaryOf(const MeshData& cage) {
  const auto mesh = TetMesh::Create(cage.vertices, cage.tets);
  return mesh.ok() ? mesh->BoundaryTriangles() : std::vector<Triangle>();
}

}  // namespace

CageShaper::CageShaper(MeshData cage, const Enclosure& enclosure, const TriangleTree& tree, const DistanceGrid& grid,
                       double clearance)
    : cage_(std::move(cage)),
      boundary_(BoundaryOf(cage_)),
      stars_(cage_.vertices.size()),
      enclosure_(enclosure),
      tree_(tree),
      grid_(grid),
      clearance_(clearance) {
  for (size_t t = 0; t < cage_.tets.size(); ++t) {
    for (const int32_t v : cage_.tets[t]) {
      stars_[v].tets.push_back(static_cast<int32_t>(t));
      for (const int32_t w : cage_.tets[t]) stars_[v].neighbours.push_back(w);
    }
  }
  for (Star& star : stars_) {
    std::sort(star.neighbours.begin(), star.neighbours.end());
    star.neighbours.erase(std::unique(star.neighbours.begin(), star.neighbours.end()), star.neighbours.end());
  }
  for (size_t t = 0; t < boundary_.size(); ++t) {
    for (const int32_t v : boundary_[t]) stars_[v].boundary.push_back(static_cast<int32_t>(t));
  }
}

CageShaper::Quality CageShaper::StarQuality(int32_t v) const {
  Quality quality = {180, 0, kEnoughSamples};
  for (const int32_t t : stars_[v].tets) {
    const Tet& tet = cage_.tets[t];
    const Vec3 &a = cage_.vertices[tet[0]], &b = cage_.vertices[tet[1]], &c = cage_.vertices[tet[2]], &d = cage_.vertices[tet[3]];
    if (ExactOrientation(a, b, c, d) <= 0) return {0, 180, 0};
    const DihedralRange range = Dihedrals(a, b, c, d);
    quality.min_deg = std::min(quality.min_deg, range.min_deg);
    quality.max_deg = std::max(quality.max_deg, range.max_deg);
    quality.solid_samples = std::min(quality.solid_samples, SolidSamples(tet));
  }
  return quality;
}

// How many of 35 evenly spread points of the tet lie in the solid; counting stops at kEnoughSamples.
int CageShaper::SolidSamples(const Tet& tet) const {
  int samples = 0;
  for (int i = 0; i <= 4; ++i) {
    for (int j = 0; i + j <= 4; ++j) {
      for (int k = 0; i + j + k <= 4; ++k) {
        const double a = (i + 0.3) / 5.2, b = (j + 0.3) / 5.2, c = (k + 0.3) / 5.2;
        samples += grid_.At(a * cage_.vertices[tet[0]] + b * cage_.vertices[tet[1]] + c * cage_.vertices[tet[2]] +
                            (1 - a - b - c) * cage_.vertices[tet[3]]) < 0;
        if (samples == kEnoughSamples) return samples;
      }
    }
  }
  return samples;
}

bool CageShaper::BoundaryIsFree(int32_t v) const {
  const std::vector<Vec3>& x = cage_.vertices;
  for (const int32_t b : stars_[v].boundary) {
    const Triangle& triangle = boundary_[b];
    if (ExactlyCollinear(x[triangle[0]], x[triangle[1]], x[triangle[2]])) return false;
    const AuditBox box = BoxOf(x, triangle);
    for (size_t o = 0; o < boundary_.size(); ++o) {
      if (static_cast<int32_t>(o) == b || !box.Meets(BoxOf(x, boundary_[o]))) continue;
      if (TrianglesMeet(x, triangle, boundary_[o])) return false;
    }
    if (enclosure_.Meets(x[triangle[0]], x[triangle[1]], x[triangle[2]])) return false;
  }
  return true;
}

bool CageShaper::TryMove(int32_t v, const Vec3& p, const Quality& least) {
  const Vec3 old = cage_.vertices[v];
  cage_.vertices[v] = p;
  const Quality quality = StarQuality(v);
  if (quality.min_deg >= least.min_deg && quality.max_deg <= least.max_deg && quality.solid_samples >= least.solid_samples &&
      BoundaryIsFree(v)) {
    return true;
  }
  cage_.vertices[v] = old;
  return false;
}

bool CageShaper::MoveInward(int32_t v) {
  const Vec3 to_surface = tree_.Closest(cage_.vertices[v]) - cage_.vertices[v];
  const double distance = to_surface.norm();
  if (!(distance > 1.5 * clearance_)) return false;
  const Quality now = StarQuality(v);
  const Quality least = {std::min(now.min_deg, kGoodDeg), std::max(now.max_deg, kGoodMaxDeg), now.solid_samples};
  for (double share = 1; share > 0.05; share *= 0.6) {
    if (TryMove(v, cage_.vertices[v] + share * (1 - clearance_ / distance) * to_surface, least)) return true;
  }
  return false;
}

bool CageShaper::ImproveShape(int32_t v) {
  const Quality now = StarQuality(v);
  if (now.min_deg >= kGoodDeg + 4 && now.max_deg <= kGoodMaxDeg) return false;
  double shortest = 0;
  Vec3 middle = Vec3::Zero();
  for (const int32_t w : stars_[v].neighbours) {
    if (w == v) continue;
    const double length = (cage_.vertices[w] - cage_.vertices[v]).norm();
    shortest = shortest == 0 ? length : std::min(shortest, length);
    middle += cage_.vertices[w] / static_cast<double>(stars_[v].neighbours.size() - 1);
  }
  bool moved = false;
  Quality least = now;
  const auto attempt = [&](const Vec3& p) {
    if (!TryMove(v, p, {least.min_deg + 0.1, std::max(least.max_deg, kGoodMaxDeg), least.solid_samples})) return;
    least = StarQuality(v);
    moved = true;
  };
  const Vec3 start = cage_.vertices[v];
  if (stars_[v].boundary.empty()) attempt(middle);
  for (const double step : {0.3, 0.1, 0.03}) {
    for (int d = 0; d < 27; ++d) {
      const int x = d % 3 - 1, y = d / 3 % 3 - 1, z = d / 9 - 1;
      const Vec3 direction(x, y, z);
      if (d != 13) attempt(cage_.vertices[v] + step * shortest * direction.normalized());
    }
  }
  return moved && cage_.vertices[v] != start;
}

void CageShaper::Shape(int passes, Interrupt* interrupt) {
  for (int pass = 0; pass < passes; ++pass) {
    bool moved = false;
    for (size_t v = 0; v < stars_.size() && !Raised(interrupt); ++v) moved |= ImproveShape(static_cast<int32_t>(v));
    for (size_t v = 0; v < stars_.size() && !Raised(interrupt); ++v) {
      if (!stars_[v].boundary.empty()) moved |= MoveInward(static_cast<int32_t>(v));
    }
    if (!moved || Raised(interrupt)) break;
  }
}

MeshData CageShaper::WithoutEmptyTets(const MeshData& cage, const std::vector<bool>& holds_solid, Interrupt* interrupt) {
  std::vector<bool> kept(cage.tets.size(), true);
  const auto build = [&] {
    MeshData mesh = {cage.vertices, {}, {}};
    for (size_t t = 0; t < cage.tets.size(); ++t) {
      if (kept[t]) mesh.tets.push_back(cage.tets[t]);
    }
    return mesh;
  };
  for (bool removed = true; removed;) {
    removed = false;
    for (size_t t = 0; t < cage.tets.size(); ++t) {
      if (!kept[t] || holds_solid[t]) continue;
      if (Raised(interrupt)) return cage;
      kept[t] = false;
      if (AuditBody{BoundaryOf(build())}.IsClosed()) {
        removed = true;
      } else {
        kept[t] = true;
      }
    }
  }
  MeshData mesh = build();
  SortMesh(&mesh.vertices, &mesh.tets);
  return mesh;
}

}  // namespace eipc
