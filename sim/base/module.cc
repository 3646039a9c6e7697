#include "sim/base/module.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace eipc {
namespace {

// Where a module is, seen from the program: beside it, from a test in its own folder, from a wheel.
constexpr std::array<const char*, 3> kPlaces = {"", "../bin", "../lib"};

}  // namespace

absl::StatusOr<const void*> FindInModule(const std::string& file, const char* symbol, const std::string& problem) {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (const char* place : kPlaces) {
    const std::filesystem::path path = program.parent_path() / place / file;
    if (!std::filesystem::exists(path, ignored)) continue;
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const void* found = module == nullptr ? nullptr : dlsym(module, symbol);
    if (found != nullptr) return found;
    return absl::NotFoundError(absl::StrCat(problem, ": ", dlerror()));
  }
  return absl::NotFoundError(
      absl::StrCat(problem, " without ", file, ", which belongs beside ", program.string(), "; install the program anew"));
}

}  // namespace eipc
