#ifndef EIPC_SIM_BASE_MODULE_H_
#define EIPC_SIM_BASE_MODULE_H_

#include <string>

#include "absl/status/statusor.h"

namespace eipc {

// The address of `symbol` in the module `file` (e.g. eipc-sdf.so), a shared library that programs load when they first need it,
// from beside the program, and that stays loaded. NOT_FOUND: there is no such module, or a library that it needs is missing; the
// message begins with `problem` (e.g. "cannot read SDF").
absl::StatusOr<const void*> FindInModule(const std::string& file, const char* symbol, const std::string& problem);

}  // namespace eipc

#endif  // EIPC_SIM_BASE_MODULE_H_
