#include "sim/robot/sdf_module.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

constexpr char kModule[] = "eipc-sdf.so";

// Where the module is, seen from the program: beside it, from a test in its own folder, from a wheel.
constexpr std::array<const char*, 3> kPlaces = {"", "../bin", "../lib"};

absl::StatusOr<ParseSdfEntry> LoadEntry() {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (const char* place : kPlaces) {
    const std::filesystem::path path = program.parent_path() / place / kModule;
    if (!std::filesystem::exists(path, ignored)) continue;
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* entry = module == nullptr ? nullptr : dlsym(module, kParseSdfEntry);
    if (entry != nullptr) return *static_cast<const ParseSdfEntry*>(entry);
    return absl::NotFoundError(absl::StrCat("cannot read SDF: ", dlerror()));
  }
  return absl::NotFoundError(
      absl::StrCat("cannot read SDF without ", kModule, ", which belongs beside ", program.string(), "; install the program anew"));
}

}  // namespace

absl::StatusOr<RobotImport> ParseSdfByModule(const std::string& text, const std::string& file, const PackageFolders& packages) {
  static const absl::StatusOr<ParseSdfEntry> entry = LoadEntry();
  EIPC_ASSIGN_OR_RETURN(const ParseSdfEntry parse, entry);
  return parse(text, file, packages);
}

}  // namespace eipc
