#include "sim/scene/body_parts.h"

#include <algorithm>
#include <utility>

#include "sim/mesh/embed_vertices.h"
#include "sim/mesh/used_vertices.h"

namespace eipc {
namespace {

// An element keeps at least this share of its cage tet as elastic volume, so that corners of a cage that hold hardly any solid
// do not become nodes without stiffness. Mass stays exact.
constexpr double kLeastElasticShare = 1e-3;

// Mass properties in the world and the body frame: centre of mass, axes of the authored mesh.
void SetMass(const SurfaceMesh& surface, const BodySpec& spec, CompiledBody* out) {
  out->initial_pose = spec.pose;
  const bool solid = surface.IsClosed() && surface.SignedVolume() > 0;
  if (!solid) return;
  const bool reacts = RowOf(spec.kind).traits.reacts;
  MassProperties m = SolidMassProperties(surface.vertices(), surface.triangles(), reacts ? spec.material.density_kg_m3 : 1.0);
  const Mat3 r = spec.pose.rotation.toRotationMatrix();
  out->initial_pose.position = spec.pose.Apply(m.center_of_mass);
  if (!reacts) return;
  out->mass = {m.mass, out->initial_pose.position, r * m.inertia * r.transpose()};
}

}  // namespace

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
                                std::vector<int32_t>* node_of_vertex) {
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
  if (surface.ok()) return *std::move(surface);
  problems->Add(path, surface.status().message());
  return std::nullopt;
}

bool BoundsSolid(const SurfaceMesh& surface, const std::string& path, Problems* problems) {
  if (!surface.IsClosed()) {
    problems->Add(path, "the surface is not closed, so it has no volume and no mass; close its holes and orient it consistently");
    return false;
  }
  if (!(surface.SignedVolume() > 0)) {
    problems->Add(path, "the surface is inside out (signed volume ", surface.SignedVolume(), " m^3); reverse its triangles");
    return false;
  }
  return true;
}

void Place(const std::vector<Vec3>& authored, const Pose& pose, std::vector<Vec3>* world) {
  for (const Vec3& p : authored) world->push_back(pose.Apply(p));
}

void PlaceSurface(const SurfaceMesh& surface, const BodySpec& spec, CompiledBody* out) {
  Place(surface.vertices(), spec.pose, &out->surface_positions);
  out->triangles = surface.triangles();
  SetMass(surface, spec, out);
}

bool Embed(const TetMesh& cage, const SurfaceMesh& surface, const BodySpec& spec, const std::string& path, CompiledBody* out,
           Problems* problems) {
  absl::StatusOr<std::vector<EmbeddingRow>> embedding = EmbedVertices(cage, surface.vertices(), out->interrupt);
  if (!embedding.ok()) {
    problems->Add(path, embedding.status().message());
    return false;
  }
  out->node_authored = cage.vertices();
  Place(cage.vertices(), spec.pose, &out->node_positions);
  out->embedding = *std::move(embedding);
  return true;
}

void AddElements(const TetMesh& mesh, const CageIntegrals& integrals, const MaterialSpec& material, CompiledBody* out) {
  out->material = material;
  out->elastic.material = material.model->make(material);
  out->elastic.rayleigh_alpha_per_s = material.rayleigh_alpha_per_s;
  out->elastic.rayleigh_beta_s = material.rayleigh_beta_s;
  out->elastic.strain_damping_s = material.strain_damping_s;
  out->elastic.strain_damping_law = material.strain_damping_law;
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

}  // namespace eipc
