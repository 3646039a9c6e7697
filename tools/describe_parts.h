#ifndef EIPC_TOOLS_DESCRIBE_PARTS_H_
#define EIPC_TOOLS_DESCRIBE_PARTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace eipc {

// What scenes may be made of, as Markdown tables that follow from the descriptors: mesh formats, materials, friction, integrators.
// docs/reference/parts.md is the whole; a test compares it.
std::string DescribeParts();

// One of its sections by name ("materials"). INVALID_ARGUMENT names them.
absl::StatusOr<std::string> DescribePart(absl::string_view section);

}  // namespace eipc

#endif  // EIPC_TOOLS_DESCRIBE_PARTS_H_
