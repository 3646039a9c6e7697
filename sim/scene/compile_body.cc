#include "sim/scene/compile_body.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "sim/base/status_macros.h"
#include "sim/mesh/cage_integrals.h"
#include "sim/mesh/embedding.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/mesh/used_vertices.h"
#include "sim/meshing/enclosing_tet.h"
#include "sim/meshing/locking.h"
#include "sim/meshing/make_cage.h"

namespace eipc {
namespace {

// An element keeps at least this share of its cage tet as elastic volume, so that corners of a cage that hold hardly any solid
// do not become nodes without stiffness. Mass stays exact.
constexpr double kLeastElasticShare = 1e-3;

const char* MeshField(BodyKind kind) {
  switch (kind) {
    case BodyKind::kFullSpace:
      return ".full_space.mesh";
    case BodyKind::kEmbedded:
      return ".embedded.surface";
    case BodyKind::kAffine:
      return ".affine.surface";
    case BodyKind::kKinematic:
      return ".kinematic.surface";
    case BodyKind::kStatic:
      return ".static_body.surface";
  }
  return "";
}

// The boundary of a tetrahedral mesh as a surface of its own; `nodes` names the mesh vertex of each surface vertex.
MeshData BoundaryOf(const TetMesh& mesh, std::vector<int32_t>* nodes) {
  MeshData out;
  out.triangles = mesh.BoundaryTriangles();
  std::vector<int32_t> index(mesh.vertices().size(), -1);
  for (const Triangle& t : out.triangles) {
    for (int32_t v : t) index[v] = 0;
  }
  for (size_t v = 0; v < index.size(); ++v) {
    if (index[v] < 0) continue;
    index[v] = static_cast<int32_t>(nodes->size());
    nodes->push_back(static_cast<int32_t>(v));
    out.vertices.push_back(mesh.vertices()[v]);
  }
  for (Triangle& t : out.triangles) {
    for (int32_t& v : t) v = index[v];
  }
  return out;
}

std::optional<TetMesh> ReadTets(const MeshData& data, const std::string& path, Problems* problems,
                                std::vector<int32_t>* node_of_vertex = nullptr) {
  absl::StatusOr<TetMesh> mesh = TetMeshOfUsed(data, node_of_vertex);
  if (mesh.ok()) return *std::move(mesh);
  problems->Add(path, mesh.status().message());
  return std::nullopt;
}

std::optional<SurfaceMesh> ReadSurface(const BodySpec& spec, const std::string& path, Problems* problems) {
  MeshData data = spec.mesh;
  if (!data.tets.empty()) {
    const std::optional<TetMesh> tets = ReadTets(data, path, problems);
    if (!tets) return std::nullopt;
    std::vector<int32_t> nodes;
    data = BoundaryOf(*tets, &nodes);
  }
  absl::StatusOr<SurfaceMesh> surface = SurfaceMeshOfUsed(data);
  if (!surface.ok()) {
    problems->Add(path, surface.status().message());
    return std::nullopt;
  }
  const bool solid = spec.kind == BodyKind::kEmbedded || spec.kind == BodyKind::kAffine;
  if (solid && !surface->IsClosed()) {
    problems->Add(path, "the surface is not closed, so it has no volume and no mass; close its holes and orient it consistently");
    return std::nullopt;
  }
  if (solid && !(surface->SignedVolume() > 0)) {
    problems->Add(path, "the surface is inside out (signed volume ", surface->SignedVolume(), " m^3); reverse its triangles");
    return std::nullopt;
  }
  return *std::move(surface);
}

void AddElements(const TetMesh& mesh, const CageIntegrals& integrals, const MaterialSpec& material, CompiledBody* out) {
  out->elastic.material = material.model->make(material);
  out->elastic.rayleigh_alpha_per_s = material.rayleigh_alpha_per_s;
  out->elastic.rayleigh_beta_s = material.rayleigh_beta_s;
  out->elastic.nodes = mesh.tets();
  for (size_t e = 0; e < mesh.tets().size(); ++e) {
    const Tet& t = mesh.tets()[e];
    const std::vector<Vec3>& x = out->node_positions;
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = x[t[k + 1]] - x[t[0]];
    out->elastic.inverse_rest.push_back(edges.inverse());
    out->elastic.volume.push_back(std::max(integrals.elastic_volume[e], kLeastElasticShare * mesh.Volume(static_cast<int>(e))));
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        out->mass_entries.push_back({t[a], t[b], material.density_kg_m3 * integrals.shape_product[e][4 * a + b]});
      }
    }
  }
}

// integral N N^T over the whole solid, in closed form from its volume, centre and inertia: one tetrahedron holds it all.
CageIntegrals IntegrateSolidInTet(const TetMesh& tet, const SurfaceMesh& surface) {
  const MassProperties unit = SolidMassProperties(surface.vertices(), surface.triangles(), 1.0);
  Eigen::Matrix4d corners;
  for (int a = 0; a < 4; ++a) corners.col(a) << tet.vertices()[tet.tets()[0][a]] - unit.center_of_mass, 1;
  const Eigen::Matrix4d inverse = corners.inverse();  // N = inverse * (x - c, 1)
  Eigen::Matrix4d moments = Eigen::Matrix4d::Zero();
  moments.topLeftCorner<3, 3>() = 0.5 * unit.inertia.trace() * Mat3::Identity() - unit.inertia;
  moments(3, 3) = unit.mass;
  const Eigen::Matrix4d product = inverse * moments * inverse.transpose();
  CageIntegrals out;
  out.elastic_volume = {unit.mass};
  out.shape_product.resize(1);
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) out.shape_product[0][4 * a + b] = product(a, b);
  }
  return out;
}

void Place(const std::vector<Vec3>& authored, const Pose& pose, std::vector<Vec3>* world) {
  for (const Vec3& p : authored) world->push_back(pose.Apply(p));
}

// Mass properties in the world and the body frame: centre of mass, axes of the authored mesh.
void SetMass(const SurfaceMesh& surface, const BodySpec& spec, CompiledBody* out) {
  out->initial_pose = spec.pose;
  const bool solid = surface.IsClosed() && surface.SignedVolume() > 0;
  if (!solid) return;
  const bool moves = spec.kind != BodyKind::kKinematic && spec.kind != BodyKind::kStatic;
  MassProperties m = SolidMassProperties(surface.vertices(), surface.triangles(), moves ? spec.material.density_kg_m3 : 1.0);
  const Mat3 r = spec.pose.rotation.toRotationMatrix();
  out->initial_pose.position = spec.pose.Apply(m.center_of_mass);
  if (!moves) return;
  out->mass = {m.mass, out->initial_pose.position, r * m.inertia * r.transpose()};
}

void CompileFullSpace(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems) {
  if (spec.mesh.tets.empty()) {
    problems->Add(path,
                  "a full-space body needs a tetrahedral mesh; this one has triangles only (use an embedded body, or mesh it)");
    return;
  }
  const std::optional<TetMesh> mesh = ReadTets(spec.mesh, path, problems, &out->node_of_vertex);
  if (!mesh) return;
  std::vector<int32_t> nodes;
  const MeshData boundary = BoundaryOf(*mesh, &nodes);
  absl::StatusOr<SurfaceMesh> surface = SurfaceMesh::Create(boundary.vertices, boundary.triangles);
  if (!surface.ok()) {
    problems->Add(path, "its boundary: ", surface.status().message());
    return;
  }
  out->node_authored = mesh->vertices();
  Place(mesh->vertices(), spec.pose, &out->node_positions);
  Place(surface->vertices(), spec.pose, &out->surface_positions);
  out->triangles = surface->triangles();
  out->embedding = Embedding::Identity(nodes).rows();
  AddElements(*mesh, IntegrateFullTets(*mesh), spec.material, out);
  SetMass(*surface, spec, out);
}

std::optional<TetMesh> CageFor(const BodySpec& spec, const SurfaceMesh& surface, const std::string& path,
                               std::vector<int32_t>* node_of_vertex, Problems* problems) {
  if (spec.cage.has_value()) return ReadTets(*spec.cage, path + ".embedded.cage_mesh", problems, node_of_vertex);
  absl::StatusOr<TetMesh> cage = MakeCage(surface, {.max_vertices = spec.cage_vertices});
  if (!cage.ok()) {
    problems->Add(path + ".embedded.cage_vertices", cage.status().message());
    return std::nullopt;
  }
  node_of_vertex->resize(cage->vertices().size());
  std::iota(node_of_vertex->begin(), node_of_vertex->end(), 0);
  return *std::move(cage);
}

// What the body asks for, measured where it says nothing: the factors of a cage that nothing is to be done about are 1.
absl::StatusOr<CageCalibration> CalibrationFor(const BodySpec& spec, const TetMesh& cage, const SurfaceMesh& surface) {
  CageCalibration applied = {1.0, spec.material.poissons_ratio};
  if (!spec.calibration->measured()) {
    applied.youngs_scale = spec.calibration->youngs_scale.value_or(1.0);
    applied.poissons_ratio = spec.calibration->poissons_ratio.value_or(spec.material.poissons_ratio);
    return applied;
  }
  // One tet moves as an affine body, which does not bend; a cage as fine as what it is compared with is taken as it is.
  if (cage.tets().size() == 1 || cage.vertices().size() > kMostCalibratedVertices) return applied;
  std::optional<TetMesh> own;
  if (!spec.mesh.tets.empty()) {
    EIPC_ASSIGN_OR_RETURN(own, TetMeshOfUsed(spec.mesh));
  }
  EIPC_ASSIGN_OR_RETURN(const Locking locking, MeasureLocking(cage, surface, own ? &*own : nullptr, spec.material.poissons_ratio));
  if (locking.helps()) applied = {locking.youngs_scale, locking.poissons_ratio};
  return applied;
}

void CompileCaged(const BodySpec& spec, const SurfaceMesh& surface, const std::string& path, CompiledBody* out,
                  Problems* problems) {
  std::optional<TetMesh> cage;
  if (spec.kind == BodyKind::kEmbedded) {
    cage = CageFor(spec, surface, path, &out->node_of_vertex, problems);
    if (!cage) return;
  } else {
    cage = EnclosingTet(surface.vertices());
  }
  absl::StatusOr<Embedding> embedding = Embedding::Create(*cage, surface.vertices());
  if (!embedding.ok()) {
    problems->Add(path + ".embedded", embedding.status().message());
    return;
  }
  out->node_authored = cage->vertices();
  Place(cage->vertices(), spec.pose, &out->node_positions);
  out->embedding = embedding->rows();
  if (spec.kind == BodyKind::kKinematic) return;
  if (spec.kind == BodyKind::kAffine) {
    AddElements(*cage, IntegrateSolidInTet(*cage, surface), spec.material, out);
    return;
  }
  absl::StatusOr<CageIntegrals> integrals = IntegrateSolidOverCage(*cage, surface);
  if (!integrals.ok()) {
    problems->Add(path + ".embedded", integrals.status().message());
    return;
  }
  MaterialSpec material = spec.material;
  if (spec.calibration) {
    const absl::StatusOr<CageCalibration> calibration = CalibrationFor(spec, *cage, surface);
    if (!calibration.ok()) {
      problems->Add(path + ".embedded.calibration", "cannot be measured (give youngs_scale): ", calibration.status().message());
      return;
    }
    out->calibration = *calibration;
    material.youngs_modulus_pa *= *calibration->youngs_scale;
    material.poissons_ratio = *calibration->poissons_ratio;
  }
  AddElements(*cage, *integrals, material, out);
}

}  // namespace

CompiledBody CompileBody(const BodySpec& spec, const std::string& path, Problems* problems) {
  CompiledBody out;
  const std::string mesh_path = path + MeshField(spec.kind);
  if (spec.kind == BodyKind::kFullSpace) {
    CompileFullSpace(spec, mesh_path, &out, problems);
    return out;
  }
  const std::optional<SurfaceMesh> surface = ReadSurface(spec, mesh_path, problems);
  if (!surface) return out;
  Place(surface->vertices(), spec.pose, &out.surface_positions);
  out.triangles = surface->triangles();
  SetMass(*surface, spec, &out);
  if (spec.kind == BodyKind::kStatic) {
    out.embedding.resize(surface->vertices().size());
  } else {
    CompileCaged(spec, *surface, path, &out, problems);
  }
  return out;
}

}  // namespace eipc
