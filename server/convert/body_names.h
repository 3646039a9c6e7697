#ifndef EIPC_SERVER_CONVERT_BODY_NAMES_H_
#define EIPC_SERVER_CONVERT_BODY_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/dynamics/model.h"

namespace eipc {

// The index of the body that a request names in the field `path`. NOT_FOUND (BODY_NOT_FOUND, with the names of the bodies there
// are).
absl::StatusOr<int> FindNamedBody(const Model& model, const std::string& name, absl::string_view path);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_BODY_NAMES_H_
