#include "sim/robot/sdf_module.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

constexpr char kModule[] = "eipc-sdf.so";

absl::StatusOr<ParseSdfEntry> LoadEntry() {
  void* module = dlopen(kModule, RTLD_NOW | RTLD_LOCAL);
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
