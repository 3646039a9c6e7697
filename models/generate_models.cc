// Writes the meshes of models/scenes into a folder, and manifest.json with their counts and checksums.
//   eipc-models OUTPUT_FOLDER
// The same build writes the same bytes every time.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/dishes.h"
#include "models/finray.h"
#include "models/household.h"
#include "models/rods.h"
#include "models/sha256.h"
#include "models/shapes.h"
#include "models/sheets.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/mesh/write_mesh.h"
#include "sim/meshing/make_cage.h"
#include "sim/meshing/mesh_implicit.h"

namespace eipc {
namespace {

// Raise when a change alters a generated mesh, and commit the new models/manifest.json with it.
constexpr int kGeneratorVersion = 4;

class Generator {
 public:
  explicit Generator(std::filesystem::path folder) : folder_(std::move(folder)) {}

  absl::Status Run() {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) return absl::UnavailableError(absl::StrCat(folder_.string(), ": ", error.message()));
    EIPC_RETURN_IF_ERROR(WriteTeddies());
    EIPC_RETURN_IF_ERROR(WriteBubble());
    EIPC_RETURN_IF_ERROR(WriteGround());
    EIPC_RETURN_IF_ERROR(WriteHousehold());
    EIPC_RETURN_IF_ERROR(WritePlatePlacing());
    EIPC_RETURN_IF_ERROR(WriteCloth());
    EIPC_RETURN_IF_ERROR(Write("rod.vtk", Rod({})));
    const nlohmann::ordered_json manifest = {{"generator_version", kGeneratorVersion}, {"files", files_}};
    return Put("manifest.json", manifest.dump(2) + "\n");
  }

 private:
  // Renamed into place whole: two build folders may generate at once.
  absl::Status Put(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_ / name, part = folder_ / (name + ".part");
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out << content;
    out.close();
    std::error_code error;
    if (out) std::filesystem::rename(part, path, error);
    if (!out || error) return absl::UnavailableError(absl::StrCat(path.string(), " cannot be written"));
    return absl::OkStatus();
  }

  absl::Status Write(const std::string& name, const MeshData& mesh) {
    const std::filesystem::path part = folder_ / ("part_" + name);
    EIPC_RETURN_IF_ERROR(WriteMesh(part.string(), mesh));
    std::ifstream in(part, std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(in)), {});
    in.close();
    std::error_code error;
    std::filesystem::remove(part, error);
    files_[name] = {{"vertices", mesh.vertices.size()},
                    {"tets", mesh.tets.size()},
                    {"triangles", mesh.triangles.size()},
                    {"sha256", Sha256Hex(content)}};
    return Put(name, content);
  }

  absl::Status WriteTeddies() {
    ImplicitCriteria criteria;
    criteria.facet_size_m = 0.018;
    criteria.facet_distance_m = 0.0018;
    criteria.cell_size_m = 0.0155;
    EIPC_ASSIGN_OR_RETURN(const TetMesh teddy, MeshImplicit(TeddyValue, Vec3(0, 0, 0.06), 0.2, criteria));
    EIPC_RETURN_IF_ERROR(Write("teddy_full.vtk", {teddy.vertices(), teddy.tets(), {}}));
    EIPC_ASSIGN_OR_RETURN(const SurfaceMesh surface, Boundary(teddy));
    EIPC_RETURN_IF_ERROR(Write("teddy_surface.obj", {surface.vertices(), {}, surface.triangles()}));
    for (const auto& [name, budget] : {std::pair{"teddy_medium_cage.vtk", 173}, {"teddy_low_cage.vtk", 34}}) {
      EIPC_ASSIGN_OR_RETURN(const TetMesh cage, MakeCage(surface, {budget}));
      EIPC_RETURN_IF_ERROR(Write(name, {cage.vertices(), cage.tets(), {}}));
    }
    return absl::OkStatus();
  }

  absl::Status WriteBubble() {
    ImplicitCriteria criteria;
    criteria.facet_size_m = 0.03;
    criteria.facet_distance_m = 0.004;
    criteria.cell_size_m = 0.021;
    EIPC_ASSIGN_OR_RETURN(const TetMesh bubble, MeshImplicit(BubbleValue, Vec3(0, 0, -0.015), 0.15, criteria));
    return Write("bubble.vtk", {bubble.vertices(), bubble.tets(), {}});
  }

  // A slab 1 m x 1 m x 0.1 m whose top is z = 0.
  absl::Status WriteGround() {
    MeshData box;
    for (int i = 0; i < 8; ++i) box.vertices.emplace_back(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.0 : -0.1);
    box.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                     {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    return Write("ground.obj", box);
  }

  // FinRay fingers, as the scenes have them and as a fine reference; plate, rack and stand.
  absl::Status WritePlatePlacing() {
    constexpr FinRayCells kFine = {.strip = 3, .opening = 14, .rib = 3, .ribs = 12, .width = 3, .base = 3};
    EIPC_RETURN_IF_ERROR(Write("finray_finger.vtk", FinRayFinger({})));
    EIPC_RETURN_IF_ERROR(Write("finray_finger_fine.vtk", FinRayFinger(kFine)));
    EIPC_RETURN_IF_ERROR(Write("plate.obj", DinnerPlate()));
    EIPC_RETURN_IF_ERROR(Write("dish_rack.obj", DishRack()));
    return Write("plate_stand.obj", PlateStand());
  }

  // Towels of about 250 and 1,000 vertices, a bag, a sleeve, and what they meet.
  absl::Status WriteCloth() {
    EIPC_RETURN_IF_ERROR(Write("towel.obj", Towel(0.3, 14)));
    EIPC_RETURN_IF_ERROR(Write("towel_fine.obj", Towel(0.3, 29)));
    EIPC_RETURN_IF_ERROR(Write("pouch.obj", Pouch()));
    EIPC_RETURN_IF_ERROR(Write("sleeve.obj", Sleeve()));
    EIPC_RETURN_IF_ERROR(Write("capsule.obj", Capsule()));
    EIPC_RETURN_IF_ERROR(Write("small_ball.obj", SmallBall()));
    EIPC_RETURN_IF_ERROR(Write("bar.obj", Bar()));
    EIPC_RETURN_IF_ERROR(Write("table.obj", Box(Vec3(-0.15, -0.2, -0.02), Vec3(0.14, 0.2, 0))));
    return Write("finger_pad.obj", Box(Vec3(-0.015, -0.012, -0.003), Vec3(0.015, 0.012, 0.003)));
  }

  // Surfaces alone.
  absl::Status WriteHousehold() {
    for (const HouseholdObject& object : HouseholdObjects()) {
      ImplicitCriteria criteria;
      criteria.facet_size_m = object.facet_size_m;
      criteria.facet_distance_m = 0.1 * object.facet_size_m;
      criteria.remove_slivers = false;
      EIPC_ASSIGN_OR_RETURN(const TetMesh solid, MeshImplicit(object.value, object.inside, object.radius_m, criteria));
      EIPC_ASSIGN_OR_RETURN(const SurfaceMesh surface, Boundary(solid));
      EIPC_RETURN_IF_ERROR(Write(absl::StrCat(object.name, ".obj"), {surface.vertices(), {}, surface.triangles()}));
    }
    return absl::OkStatus();
  }

  // The boundary of a tet mesh with only the vertices it uses, in their order.
  static absl::StatusOr<SurfaceMesh> Boundary(const TetMesh& mesh) {
    std::vector<Triangle> triangles = mesh.BoundaryTriangles();
    std::vector<int32_t> index(mesh.vertices().size(), -1);
    for (const Triangle& t : triangles) {
      for (const int32_t v : t) index[v] = 0;
    }
    std::vector<Vec3> vertices;
    for (size_t v = 0; v < index.size(); ++v) {
      if (index[v] < 0) continue;
      index[v] = static_cast<int32_t>(vertices.size());
      vertices.push_back(mesh.vertices()[v]);
    }
    for (Triangle& t : triangles) t = {index[t[0]], index[t[1]], index[t[2]]};
    return SurfaceMesh::Create(std::move(vertices), std::move(triangles));
  }

  std::filesystem::path folder_;
  nlohmann::ordered_json files_ = nlohmann::ordered_json::object();
};

}  // namespace
}  // namespace eipc

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: eipc-models OUTPUT_FOLDER\n");
    return 2;
  }
  const absl::Status status = eipc::Generator(argv[1]).Run();
  if (!status.ok()) std::fprintf(stderr, "eipc-models: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
