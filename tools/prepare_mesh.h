#ifndef EIPC_TOOLS_PREPARE_MESH_H_
#define EIPC_TOOLS_PREPARE_MESH_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "sim/meshing/auto_cage.h"
#include "tools/child_job.h"

namespace CLI {
class App;
}

namespace eipc {

// What is asked of a mesh that becomes a shell.
struct ShellOptions {
  bool shell = false;
  double thickness_m = 0;
  double edge_m = 0;  // 0: from the number of vertices
  bool keep_triangles = false;
};

// What every command that takes a mesh of any kind needs to know of it.
struct PrepareOptions {
  std::string file;
  int vertices = 0;  // 0: AutoCageOptions().max_vertices, or of a shell SheetOptions().vertices
  ShellOptions shell;
  std::string units = "m";
  std::string up = "z";
  int64_t max_faces = RepairOptions().max_faces;
  double youngs_modulus_pa = kDefaultYoungsModulusPa;
  double poissons_ratio = kDefaultPoissonsRatio;
  ChildLimits limits;
  double max_memory_gib = 4;
  std::string cache;
  bool no_cache = false;
};

// Adds FILE, --vertices, --shell, --thickness, --edge, --keep-triangles, --units, --up, --faces, --youngs, --poisson, --timeout,
// --max-memory, --cache, --no-cache.
void AddPrepareOptions(CLI::App* command, PrepareOptions* options);

// A folder with surface.obj, cage.vtk (not of a shell) and report.json (docs/howto/cages.md), made in a child process or found in
// the cache.
struct PreparedMesh {
  std::string folder;
  bool was_cached = false;
};
absl::StatusOr<PreparedMesh> PrepareMesh(const PrepareOptions& options);

// The report of a prepared mesh, as read from its folder.
absl::StatusOr<nlohmann::ordered_json> ReadReport(const PreparedMesh& prepared);

// Prints `eipc: FILE: why` on one line; the exit status for it, 1..99 (docs/howto/cages.md).
int ComplainAbout(const std::string& file, const absl::Status& status);

}  // namespace eipc

#endif  // EIPC_TOOLS_PREPARE_MESH_H_
