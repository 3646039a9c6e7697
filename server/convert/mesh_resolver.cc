#include "server/convert/mesh_resolver.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/strip.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;

bool IsInside(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  // A trailing separator leaves an empty last part.
  return in_folder == folder.end() || (in_folder->empty() && std::next(in_folder) == folder.end());
}

}  // namespace

MeshResolver MeshResolver::ForLocalScene(const std::string& scene_path, const std::string& data_folder) {
  const fs::path folder = fs::path(scene_path).parent_path();
  return MeshResolver({folder.empty() ? "." : folder.string(), data_folder, false});
}

absl::StatusOr<std::string> MeshResolver::Resolve(const std::string& reference) const {
  absl::string_view rest = reference;
  const bool is_data = absl::ConsumePrefix(&rest, "data:");
  const std::string& base = is_data ? options_.data_folder : options_.scene_folder;
  if (rest.empty()) return absl::InvalidArgumentError("names no file");
  if (rest.find('\0') != absl::string_view::npos) return absl::InvalidArgumentError("holds a zero byte");
  if (base.empty()) {
    return absl::InvalidArgumentError(is_data ? "no data folder is set (--data DIR or EIPC_DATA)"
                                              : "this server reads no files (--mesh-root); send the mesh as arrays or contents");
  }
  const fs::path relative = fs::path(std::string(rest));
  const fs::path path = fs::path(base) / relative;
  if (!options_.confine) return path.string();
  const char* outside = "lies outside the folder that files are read from";
  if (relative.is_absolute() || !IsInside(path.lexically_normal(), fs::path(base).lexically_normal())) {
    return absl::InvalidArgumentError(outside);
  }
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  if (error) return absl::InvalidArgumentError("cannot be opened");
  const fs::path real_base = fs::weakly_canonical(base, error);
  if (error || !IsInside(real, real_base)) return absl::InvalidArgumentError(outside);
  return real.string();
}

}  // namespace eipc
