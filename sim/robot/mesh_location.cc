#include "sim/robot/mesh_location.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// The folder of a package; empty when there is none.
fs::path FindPackage(const std::string& name, const fs::path& description, const PackageFolders& packages) {
  if (const auto given = packages.find(name); given != packages.end()) return given->second;
  std::error_code error;
  fs::path folder = fs::absolute(description, error).lexically_normal().parent_path();
  while (true) {
    if (folder.filename() == name) return folder;
    if (IsFolder(folder / name)) return folder / name;
    if (!folder.has_relative_path()) return {};
    folder = folder.parent_path();
  }
}

absl::StatusOr<fs::path> InPackage(absl::string_view rest, const std::string& description, const PackageFolders& packages) {
  const size_t slash = rest.find('/');
  const std::string name(rest.substr(0, slash));
  if (name.empty()) return absl::InvalidArgumentError("names no package");
  const fs::path folder = FindPackage(name, description, packages);
  if (folder.empty()) {
    return absl::NotFoundError(absl::StrCat("no folder above the description is, or holds, the package \"", name,
                                            "\"; name it with --package ", name, "=FOLDER"));
  }
  return slash == absl::string_view::npos ? folder : folder / std::string(rest.substr(slash + 1));
}

absl::StatusOr<fs::path> Find(const std::string& reference, const std::string& description, const PackageFolders& packages) {
  absl::string_view rest = reference;
  if (absl::ConsumePrefix(&rest, "package://") || absl::ConsumePrefix(&rest, "model://")) {
    return InPackage(rest, description, packages);
  }
  if (absl::ConsumePrefix(&rest, "file://") || !absl::StrContains(reference, "://")) {
    return fs::path(description).parent_path() / std::string(rest);
  }
  return absl::InvalidArgumentError(R"(must be a path, "file://PATH", "package://NAME/PATH" or "model://NAME/PATH")");
}

}  // namespace

absl::StatusOr<std::string> FindMeshFile(const std::string& reference, const std::string& description,
                                         const PackageFolders& packages) {
  EIPC_ASSIGN_OR_RETURN(const fs::path path, Find(reference, description, packages));
  if (IsFile(path)) return path.string();
  if (IsFolder(path) && absl::StrContains(reference, "://")) {
    return absl::InvalidArgumentError(R"(is a folder; a mesh is "package://NAME/PATH")");
  }
  return absl::NotFoundError(absl::StrCat("there is no file ", path.string()));
}

absl::StatusOr<std::string> FindIncluded(const std::string& reference, const std::string& description,
                                         const PackageFolders& packages) {
  EIPC_ASSIGN_OR_RETURN(const fs::path path, Find(reference, description, packages));
  if (!IsFile(path) && !IsFolder(path)) {
    return absl::NotFoundError(absl::StrCat("there is no file or folder ", path.string()));
  }
  return path.string();
}

}  // namespace eipc
