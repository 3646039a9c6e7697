#include "sim/robot/shape_mesh.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/status_macros.h"
#include "sim/mesh/read_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {
namespace {

constexpr int kSides = 32;        // of a cylinder or capsule
constexpr int kRings = 8;         // of each end of a capsule
constexpr int kSubdivisions = 2;  // of an icosahedron

MeshData BoxMesh(const Vec3& size) {
  MeshData box;
  for (int i = 0; i < 8; ++i) {
    box.vertices.emplace_back((i & 1 ? 0.5 : -0.5) * size.x(), (i & 2 ? 0.5 : -0.5) * size.y(), (i & 4 ? 0.5 : -0.5) * size.z());
  }
  box.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                   {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return box;
}

MeshData Icosahedron() {
  const double g = 0.5 * (1 + std::sqrt(5.0));
  MeshData mesh;
  mesh.vertices = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                   {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  mesh.triangles = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
  return mesh;
}

MeshData Subdivided(const MeshData& mesh) {
  MeshData out;
  out.vertices = mesh.vertices;
  std::map<std::pair<int32_t, int32_t>, int32_t> middles;
  const auto middle = [&](int32_t a, int32_t b) {
    const auto [at, added] = middles.try_emplace(std::minmax(a, b), static_cast<int32_t>(out.vertices.size()));
    if (added) out.vertices.push_back(0.5 * (mesh.vertices[a] + mesh.vertices[b]));
    return at->second;
  };
  for (const auto& [a, b, c] : mesh.triangles) {
    const int32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
    out.triangles.insert(out.triangles.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
  }
  return out;
}

MeshData SphereMesh(double radius) {
  MeshData mesh = Icosahedron();
  for (int k = 0; k < kSubdivisions; ++k) mesh = Subdivided(mesh);
  for (Vec3& p : mesh.vertices) p *= radius / p.norm();
  return mesh;
}

MeshData CylinderMesh(double radius, double length) {
  MeshData mesh;
  for (int k = 0; k < kSides; ++k) {
    const double angle = 2 * M_PI * k / kSides;
    for (const double z : {-0.5 * length, 0.5 * length})
      mesh.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
  }
  const int32_t bottom = 2 * kSides, top = bottom + 1;
  mesh.vertices.emplace_back(0, 0, -0.5 * length);
  mesh.vertices.emplace_back(0, 0, 0.5 * length);
  for (int32_t k = 0; k < kSides; ++k) {
    const int32_t low = 2 * k, next = 2 * ((k + 1) % kSides);
    mesh.triangles.insert(mesh.triangles.end(),
                          {{low, next, next + 1}, {low, next + 1, low + 1}, {bottom, next, low}, {top, low + 1, next + 1}});
  }
  return mesh;
}

MeshData CapsuleMesh(double radius, double length) {
  MeshData mesh;
  for (int ring = 0; ring < 2 * kRings; ++ring) {
    const bool upper = ring >= kRings;
    const double height = 0.5 * M_PI * (upper ? ring - kRings : ring - (kRings - 1)) / kRings;  // angle above the equator
    for (int k = 0; k < kSides; ++k) {
      const double angle = 2 * M_PI * k / kSides, r = radius * std::cos(height);
      mesh.vertices.emplace_back(r * std::cos(angle), r * std::sin(angle),
                                 radius * std::sin(height) + (upper ? 0.5 : -0.5) * length);
    }
  }
  const int32_t bottom = static_cast<int32_t>(mesh.vertices.size()), top = bottom + 1, last = bottom - kSides;
  mesh.vertices.emplace_back(0, 0, -0.5 * length - radius);
  mesh.vertices.emplace_back(0, 0, 0.5 * length + radius);
  for (int32_t k = 0; k < kSides; ++k) {
    const int32_t next = (k + 1) % kSides;
    mesh.triangles.insert(mesh.triangles.end(), {{bottom, next, k}, {top, last + k, last + next}});
    for (int32_t low = 0; low < last; low += kSides) {
      const int32_t high = low + kSides;
      mesh.triangles.insert(mesh.triangles.end(), {{low + k, low + next, high + next}, {low + k, high + next, high + k}});
    }
  }
  return mesh;
}

MeshData EllipsoidMesh(const Vec3& radii) {
  MeshData mesh = SphereMesh(1);
  for (Vec3& p : mesh.vertices) p = p.cwiseProduct(radii);
  return mesh;
}

absl::StatusOr<MeshData> FileMesh(const MeshShape& shape) {
  EIPC_ASSIGN_OR_RETURN(MeshData mesh, ReadMesh(shape.file));
  if (!mesh.tets.empty()) {
    EIPC_ASSIGN_OR_RETURN(const TetMesh tets, TetMesh::Create(mesh.vertices, mesh.tets));
    mesh.triangles = tets.BoundaryTriangles();
    mesh.tets.clear();
  }
  for (Vec3& p : mesh.vertices) p = p.cwiseProduct(shape.scale);
  if (shape.scale.prod() < 0) {
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  }
  return mesh;
}

}  // namespace

absl::StatusOr<MeshData> ShapeMesh(const CollisionShape& shape) {
  if (const auto* box = std::get_if<BoxShape>(&shape.shape)) return BoxMesh(box->size);
  if (const auto* sphere = std::get_if<SphereShape>(&shape.shape)) return SphereMesh(sphere->radius);
  if (const auto* cylinder = std::get_if<CylinderShape>(&shape.shape)) return CylinderMesh(cylinder->radius, cylinder->length);
  if (const auto* capsule = std::get_if<CapsuleShape>(&shape.shape)) return CapsuleMesh(capsule->radius, capsule->length);
  if (const auto* ellipsoid = std::get_if<EllipsoidShape>(&shape.shape)) return EllipsoidMesh(ellipsoid->radii);
  return FileMesh(std::get<MeshShape>(shape.shape));
}

}  // namespace eipc
