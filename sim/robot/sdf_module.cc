#include "sim/robot/sdf_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

constexpr char kModule[] = "eipc-sdf.so";

// By the program's run path, or else beside the program: sanitizers call dlopen on its behalf, and theirs is another run path.
void* LoadModule() {
  void* module = dlopen(kModule, RTLD_NOW | RTLD_LOCAL);
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* place : {"", "../bin"}) {
    if (module == nullptr) module = dlopen((folder / place / kModule).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return module;
}

absl::StatusOr<ParseSdfEntry> LoadEntry() {
  void* module = LoadModule();
  void* entry = module == nullptr ? nullptr : dlsym(module, kParseSdfEntry);
  if (entry != nullptr) return *static_cast<const ParseSdfEntry*>(entry);
  return absl::NotFoundError(absl::StrCat("cannot read SDF without ", kModule, ", which belongs beside this program: ", dlerror()));
}

}  // namespace

absl::StatusOr<RobotImport> ParseSdfByModule(const std::string& text, const std::string& file, const PackageFolders& packages) {
  static const absl::StatusOr<ParseSdfEntry> entry = LoadEntry();
  EIPC_ASSIGN_OR_RETURN(const ParseSdfEntry parse, entry);
  return parse(text, file, packages);
}

}  // namespace eipc
