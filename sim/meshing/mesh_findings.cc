#include "sim/meshing/mesh_findings.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "sim/audit/audit.h"
#include "sim/audit/exact_triangles.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/meshing/repair_steps.h"

namespace eipc {
namespace {

// Sizes that a gripper for household objects can meet, m.
constexpr double kLeastExtent = 0.005;
constexpr double kMostExtent = 2.0;

// Sets of vertices that edges join.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  int32_t Find(int32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void Join(int32_t a, int32_t b) { parent_[Find(a)] = Find(b); }

 private:
  std::vector<int32_t> parent_;
};

struct EdgeUse {
  int32_t forward = 0, backward = 0;
};

void CountEdges(const MeshData& clean, MeshFindings* out) {
  absl::flat_hash_map<std::pair<int32_t, int32_t>, EdgeUse> edges;
  Groups groups(clean.vertices.size());
  for (const Triangle& t : clean.triangles) {
    for (int k = 0; k < 3; ++k) {
      const int32_t a = t[k], b = t[(k + 1) % 3];
      EdgeUse& use = edges[{std::min(a, b), std::max(a, b)}];
      ++(a < b ? use.forward : use.backward);
      groups.Join(a, b);
    }
  }
  Groups loops(clean.vertices.size());
  std::vector<int32_t> open_vertices;
  for (const auto& [edge, use] : edges) {
    const int uses = use.forward + use.backward;
    if (uses == 1) {
      ++out->open_edges;
      loops.Join(edge.first, edge.second);
      open_vertices.push_back(edge.first);
    }
    out->nonmanifold_edges += uses > 2;
    out->misoriented_edges += uses == 2 && use.forward != 1;
  }
  std::vector<int32_t> roots;
  for (const int32_t v : open_vertices) roots.push_back(loops.Find(v));
  std::sort(roots.begin(), roots.end());
  out->holes = std::unique(roots.begin(), roots.end()) - roots.begin();
  roots.clear();
  for (const Triangle& t : clean.triangles) roots.push_back(groups.Find(t[0]));
  std::sort(roots.begin(), roots.end());
  out->components = std::unique(roots.begin(), roots.end()) - roots.begin();
}

std::string ScaleNote(double extent) {
  if (extent > kMostExtent) {
    return absl::StrFormat("%.4g m is large for a robot's hand; in millimetres it would be %.4g m (--units mm)", extent,
                           extent / 1000);
  }
  if (extent < kLeastExtent) {
    return absl::StrFormat("%.4g m is small for a robot's hand; are the coordinates in another unit (--units)?", extent);
  }
  return "";
}

}  // namespace

MeshData TrianglesOf(const MeshData& mesh) {
  if (mesh.tets.empty()) return mesh;
  // A face that two tets share belongs to none of the boundary; exactly as TetMesh does it, but for tets of any quality.
  std::map<std::array<int32_t, 3>, std::pair<int, Triangle>> faces;
  for (Tet t : mesh.tets) {
    const int orientation = ExactOrientation(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]], mesh.vertices[t[3]]);
    if (orientation == 0) continue;
    if (orientation < 0) std::swap(t[0], t[1]);
    for (const Triangle& f :
         {Triangle{t[0], t[2], t[1]}, Triangle{t[0], t[1], t[3]}, Triangle{t[1], t[2], t[3]}, Triangle{t[0], t[3], t[2]}}) {
      std::array<int32_t, 3> key = f;
      std::sort(key.begin(), key.end());
      auto& [count, face] = faces[key];
      ++count;
      face = f;
    }
  }
  MeshData out;
  std::vector<int32_t> index(mesh.vertices.size(), -1);
  for (const auto& [key, face] : faces) {
    if (face.first != 1) continue;
    Triangle triangle = face.second;
    for (int32_t& v : triangle) {
      if (index[v] < 0) {
        index[v] = static_cast<int32_t>(out.vertices.size());
        out.vertices.push_back(mesh.vertices[v]);
      }
      v = index[v];
    }
    out.triangles.push_back(triangle);
  }
  return out;
}

MeshFindings FindProblems(const MeshData& mesh) {
  MeshFindings out;
  const MeshData surface = TrianglesOf(mesh);
  out.vertices = static_cast<int64_t>(mesh.vertices.size());
  out.tets = static_cast<int64_t>(mesh.tets.size());
  out.triangles = static_cast<int64_t>(surface.triangles.size());
  out.inverted_tets = static_cast<int64_t>(InvertedTets(mesh.vertices, mesh.tets).size());
  std::vector<bool> used(mesh.vertices.size(), false);
  for (const Tet& t : mesh.tets) {
    for (const int32_t v : t) used[v] = true;
  }
  for (const Triangle& t : mesh.triangles) {
    for (const int32_t v : t) used[v] = true;
  }
  out.unused_vertices = std::count(used.begin(), used.end(), false);
  for (const Triangle& t : surface.triangles) {
    out.degenerate_triangles += ExactlyCollinear(surface.vertices[t[0]], surface.vertices[t[1]], surface.vertices[t[2]]);
  }
  const MeshData clean = CleanSoup(surface);
  out.duplicate_triangles = out.triangles - out.degenerate_triangles - static_cast<int64_t>(clean.triangles.size());
  out.welded_vertices = static_cast<int64_t>(clean.vertices.size());
  if (clean.triangles.empty()) return out;
  CountEdges(clean, &out);
  const std::vector<int32_t> body(clean.triangles.size(), 0);
  const std::vector<uint8_t> enabled = {1};
  out.self_intersections = AuditSurfaces({&clean.vertices, &clean.triangles, &body, 1, &enabled}, false, 0).intersection_count;
  out.low = out.high = clean.vertices[0];
  for (const Vec3& p : clean.vertices) {
    out.low = out.low.cwiseMin(p);
    out.high = out.high.cwiseMax(p);
  }
  const auto solid = SurfaceMesh::Create(clean.vertices, clean.triangles);
  if (out.closed() && solid.ok()) out.volume = solid->SignedVolume();
  out.scale_note = ScaleNote((out.high - out.low).maxCoeff());
  return out;
}

}  // namespace eipc
