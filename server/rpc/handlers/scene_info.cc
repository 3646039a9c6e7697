#include "server/rpc/handlers/scene_info.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/convert/array_convert.h"
#include "server/convert/geometry_convert.h"
#include "server/convert/name_defaults.h"
#include "server/session/scene_registry.h"
#include "sim/base/utf8.h"
#include "sim/dynamics/placement.h"

namespace eipc::rpc {
namespace {

void FillBodyInfo(const Body& body, v1::BodyInfo* out) {
  out->set_name(ToUtf8(body.name));
  out->set_kind(body.kind);
  out->set_mass_kg(body.mass.mass);
  Vec3ToProto(body.mass.center_of_mass, out->mutable_center_of_mass_m());
  out->set_cage_vertices(body.nodes.size());
  out->set_cage_tets(body.tets.size());
  out->set_surface_vertices(body.vertices.size());
  out->set_surface_triangles(body.triangles.size());
}

}  // namespace

void FillSceneInfo(const std::string& name, const Model& model, bool topology, v1::SceneInfo* out) {
  out->set_name(name);
  out->set_display_name(ToUtf8(model.name));
  out->set_bodies(static_cast<int32_t>(model.bodies.size()));
  out->set_unknowns(3 * model.node_count);
  out->set_surface_vertices(model.surface.vertex_count);
  out->set_surface_triangles(static_cast<int32_t>(model.surface.triangles.size()));
  const std::vector<Vec3> x = topology ? PlacedSurface(model) : std::vector<Vec3>();
  for (const Body& body : model.bodies) {
    v1::BodyInfo& info = *out->add_body_infos();
    FillBodyInfo(body, &info);
    if (!topology) continue;
    TrianglesToProto(model.surface.triangles.data() + body.triangles.begin, body.triangles.size(), body.vertices.begin,
                     info.mutable_surface_cells());
    PointsToProto(x.data() + body.vertices.begin, body.vertices.size(), false, info.mutable_surface_positions());
  }
  for (const BoundarySet& set : model.boundary_sets) {
    if (!set.name.empty()) out->mutable_body_infos(set.body)->add_boundary_sets(set.name);
  }
}

int64_t SceneInfoBytes(const Model& model, bool topology) {
  constexpr int64_t kPerName = 8, kPerScene = 512, kPerBody = 256, kPerVertex = 3 * sizeof(double),
                    kPerTriangle = 3 * sizeof(int32_t);
  int64_t bytes = kPerScene + static_cast<int64_t>(model.name.size());
  for (const Body& body : model.bodies) bytes += kPerBody + static_cast<int64_t>(body.name.size());
  for (const BoundarySet& set : model.boundary_sets) bytes += kPerName + static_cast<int64_t>(set.name.size());
  if (topology)
    bytes += kPerVertex * model.surface.vertex_count + kPerTriangle * static_cast<int64_t>(model.surface.triangles.size());
  return bytes;
}

std::vector<std::string> FormerSceneNames(const SceneSpec& spec, v1::Scene* scene) {
  std::vector<std::string> names;
  for (const std::string& digest : FormerDigests(spec, scene)) names.push_back(absl::StrCat(kScenePrefix, digest));
  return names;
}

}  // namespace eipc::rpc
