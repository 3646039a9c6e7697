#include "tools/prepare_mesh.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "models/sha256.h"
#include "server/os/files.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mesh_formats.h"
#include "sim/mesh/read_mesh.h"
#include "sim/mesh/write_mesh.h"
#include "sim/meshing/auto_cage.h"
#include "sim/meshing/prepare_sheet.h"
#include "sim/scene/sheet_start.h"
#include "tools/cage_cache.h"
#include "tools/cage_report.h"

namespace eipc {
namespace {

using Json = nlohmann::ordered_json;

// Raise when the same mesh and settings give another result: it is part of the cache's key.
constexpr int kCageVersion = 5;
constexpr uintmax_t kMaxFileBytes = uintmax_t{1} << 29;
constexpr size_t kMaxTriangles = 2000000;
constexpr int kMostCageVertices = 20000;

double MetresPer(const std::string& unit) { return unit == "mm" ? 1e-3 : unit == "cm" ? 1e-2 : unit == "in" ? 0.0254 : 1; }

// Turns the file's up axis to z, right-handed.
Vec3 TurnUp(const Vec3& p, const std::string& up) {
  if (up == "y") return {p.x(), -p.z(), p.y()};
  if (up == "x") return {-p.z(), p.y(), p.x()};
  return p;
}

absl::StatusOr<std::string> ReadContent(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return absl::NotFoundError("no such file");
  if (status.type() != fs::file_type::regular) return absl::InvalidArgumentError("not a regular file");
  const uintmax_t size = fs::file_size(path, error);
  if (size > kMaxFileBytes) {
    return absl::InvalidArgumentError(absl::StrFormat("%.3g MB is more than the %.3g MB that are read; decimate the mesh first",
                                                      size / 1e6, kMaxFileBytes / 1e6));
  }
  absl::StatusOr<std::string> content = ReadWholeFile(path);
  if (error || !content.ok() || content->size() != size) return absl::InvalidArgumentError("cannot be read");
  return content;
}

absl::Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return out ? absl::OkStatus() : absl::UnavailableError(path + ": cannot be written (is the disk full?)");
}

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

int VerticesOf(const PrepareOptions& options) {
  if (options.vertices > 0) return options.vertices;
  return options.shell.shell ? SheetOptions().vertices : AutoCageOptions().max_vertices;
}

absl::Status PrepareShell(const PrepareOptions& options, const MeshData& mesh, const std::string& folder,
                          const MeshingProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  const ShellOptions& shell = options.shell;
  EIPC_ASSIGN_OR_RETURN(const PreparedSheet sheet,
                        PrepareSheet(mesh, {shell.thickness_m, shell.edge_m, VerticesOf(options), shell.keep_triangles}, progress));
  EIPC_RETURN_IF_ERROR(CheckSheetStart(sheet.surface, shell.thickness_m));
  EIPC_RETURN_IF_ERROR(WriteMesh(folder + "/surface.obj", {sheet.surface.vertices(), {}, sheet.surface.triangles()}));
  Json report = SheetReport(sheet, shell.thickness_m);
  report["seconds"] = Seconds(start);
  return WriteText(folder + "/report.json", report.dump(2) + "\n");
}

absl::Status PrepareCage(const PrepareOptions& options, const MeshData& mesh, const std::string& folder,
                         const MeshingProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  AutoCageOptions cage_options;
  cage_options.max_vertices = VerticesOf(options);
  cage_options.repair.max_faces = options.max_faces;
  EIPC_ASSIGN_OR_RETURN(const AutoCage result, MakeAutoCage(mesh, cage_options, progress));
  const SurfaceMesh& surface = result.repaired.surface;
  EIPC_RETURN_IF_ERROR(WriteMesh(folder + "/surface.obj", {surface.vertices(), {}, surface.triangles()}));
  EIPC_RETURN_IF_ERROR(WriteMesh(folder + "/cage.vtk", {result.cage.vertices(), result.cage.tets(), {}}));
  Json report = CageReport(result, VerticesOf(options));
  EIPC_RETURN_IF_ERROR(Report(progress, "measuring locking", 0.95));
  const CageLocking locking = LockingOf(result, mesh, options.poissons_ratio);
  report["locking"] = LockingReport(locking);
  report["error"] = CageErrorReport(CageErrorOf(result, mesh, options.poissons_ratio, locking));
  report["error"]["condensed"] = CageErrorReport(CondensedErrorOf(result, mesh, options.poissons_ratio));
  report["affine"] = AffineReport(result, options.youngs_modulus_pa);
  report["seconds"] = Seconds(start);
  return WriteText(folder + "/report.json", report.dump(2) + "\n");
}

// The whole job, in the child: writes the folder.
absl::Status Work(const PrepareOptions& options, const std::string& content, const std::string& folder,
                  const MeshingProgress& progress) {
  const std::string name = std::filesystem::path(options.file).filename().string();
  EIPC_ASSIGN_OR_RETURN(MeshData mesh, ParseMesh(content, name));
  if (mesh.triangles.size() + 4 * mesh.tets.size() > kMaxTriangles) {
    return absl::InvalidArgumentError(absl::StrFormat("%d triangles are more than the %d that are taken; decimate the mesh first",
                                                      mesh.triangles.size() + 4 * mesh.tets.size(), kMaxTriangles));
  }
  const double scale = MetresPer(options.units);
  for (Vec3& p : mesh.vertices) p = TurnUp(scale * p, options.up);
  return options.shell.shell ? PrepareShell(options, mesh, folder, progress) : PrepareCage(options, mesh, folder, progress);
}

void AddShellOptions(CLI::App* command, ShellOptions* options) {
  CLI::Option* shell = command->add_flag("--shell", options->shell,
                                         "Make a shell of the triangles, open or closed, instead of a solid and its cage");
  CLI::Option* thickness = command->add_option("--thickness", options->thickness_m, "Thickness of the shell, m")
                               ->check(CLI::Range(1e-7, 10.0))
                               ->needs(shell);
  shell->needs(thickness);
  command->add_option("--edge", options->edge_m, "Length of the shell's edges, m (default: as --vertices has it, by default 1000)")
      ->check(CLI::PositiveNumber)
      ->needs(shell)
      ->excludes(command->get_option("--vertices"));
  command->add_flag("--keep-triangles", options->keep_triangles, "Weld, orient and check the shell, but keep its triangles")
      ->needs(shell);
}

// A line that is rewritten in place, on a terminal only.
MeshingProgress TerminalProgress() {
  if (!isatty(STDERR_FILENO)) return nullptr;
  return [](const std::string& stage, double share) {
    std::fprintf(stderr, "\r\033[K  %3.0f %%  %s", 100 * share, stage.c_str());
    return true;
  };
}

}  // namespace

void AddPrepareOptions(CLI::App* command, PrepareOptions* options) {
  command->add_option("file", options->file, "Mesh (" + MeshExtensions() + ")")->required();
  command
      ->add_option("--vertices", options->vertices,
                   "Most vertices of the cage; 4: one tetrahedron (default 60); of a shell: about how many (default 1000)")
      ->check(CLI::Range(4, 200000));
  AddShellOptions(command, &options->shell);
  command->add_option("--units", options->units, "Unit of the file's coordinates (default m)")
      ->check(CLI::IsMember({"mm", "cm", "m", "in"}));
  command->add_option("--up", options->up, "The file's upward axis (default z)")->check(CLI::IsMember({"x", "y", "z"}));
  command->add_option("--faces", options->max_faces, "Most triangles of the collision surface")->check(CLI::Range(100, 200000));
  command->add_option("--youngs", options->youngs_modulus_pa, "Young's modulus, Pa")->check(CLI::PositiveNumber);
  command->add_option("--poisson", options->poissons_ratio, "Poisson's ratio")->check(CLI::Range(0.0, 0.499));
  command->add_option("--timeout", options->limits.seconds, "Seconds after which meshing is given up (default 300)")
      ->check(CLI::PositiveNumber);
  command->add_option("--max-memory", options->max_memory_gib, "GiB that meshing may use (default 4)")->check(CLI::PositiveNumber);
  command->add_option("--cache", options->cache, "Folder of finished cages (default: EIPC_CACHE, else ~/.cache/eipc)");
  command->add_flag("--no-cache", options->no_cache, "Make the cage again");
}

absl::StatusOr<PreparedMesh> PrepareMesh(const PrepareOptions& options) {
  EIPC_ASSIGN_OR_RETURN(const std::string content, ReadContent(options.file));
  if (!options.shell.shell && VerticesOf(options) > kMostCageVertices) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--vertices: a cage has at most %d, got %d", kMostCageVertices, options.vertices));
  }
  std::string settings =
      absl::StrFormat("%d %s %d %s %s %d %.17g %.17g", kCageVersion, EIPC_VERSION, VerticesOf(options), options.units, options.up,
                      options.max_faces, options.youngs_modulus_pa, options.poissons_ratio);
  const ShellOptions& shell = options.shell;
  if (shell.shell) absl::StrAppendFormat(&settings, " shell %.17g %.17g %d", shell.thickness_m, shell.edge_m, shell.keep_triangles);
  // The extension selects the format.
  const std::string extension = std::filesystem::path(options.file).extension().string();
  const std::string key = "cage-" + Sha256Hex(absl::StrCat(settings, "\n", extension, "\n", content)).substr(0, 32);
  CageCache cache(options.cache);
  if (options.no_cache) {
    std::error_code error;
    std::filesystem::remove_all(std::filesystem::path(cache.folder()) / key, error);
  }
  ChildLimits limits = options.limits;
  limits.memory_bytes = static_cast<int64_t>(options.max_memory_gib * 1073741824.0);
  const MeshingProgress progress = TerminalProgress();
  absl::StatusOr<CageCache::Entry> entry = cache.Get(key, [&](const std::string& folder) {
    const absl::Status status =
        RunInChild([&](const MeshingProgress& report) { return Work(options, content, folder, report); }, limits, progress);
    if (progress) std::fprintf(stderr, "\r\033[K");
    return status;
  });
  if (!entry.ok()) return entry.status();
  return PreparedMesh{entry->folder, entry->was_cached};
}

absl::StatusOr<Json> ReadReport(const PreparedMesh& prepared) {
  std::ifstream in(prepared.folder + "/report.json");
  Json report = Json::parse(in, nullptr, false);
  if (report.is_discarded()) return absl::InternalError(prepared.folder + "/report.json: cannot be read");
  report["cached"] = prepared.was_cached;
  return report;
}

int ComplainAbout(const std::string& file, const absl::Status& status) {
  std::string message(status.message());
  for (char& c : message) c = c == '\n' ? ' ' : c;
  const std::string name = std::filesystem::path(file).filename().string();
  const bool names_file = message.find(name) != std::string::npos;
  std::fprintf(stderr, "eipc: %s%s\n", names_file ? "" : (file + ": ").c_str(), message.c_str());
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
      return 3;
    case absl::StatusCode::kDeadlineExceeded:
      return 4;
    case absl::StatusCode::kResourceExhausted:
      return 5;
    case absl::StatusCode::kInternal:
      return 6;
    default:
      return 2;
  }
}

}  // namespace eipc
