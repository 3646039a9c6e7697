#include "server/convert/body_names.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace eipc {

absl::StatusOr<int> FindNamedBody(const Model& model, const std::string& name, absl::string_view path) {
  const int body = model.FindBody(name);
  if (body >= 0) return body;
  const auto append_name = [](std::string* out, const Body& b) { out->append(b.name); };
  return absl::NotFoundError(absl::StrCat("BODY_NOT_FOUND: ", path, ": no body '", absl::CEscape(name),
                                          "'; there are: ", absl::StrJoin(model.bodies, ", ", append_name)));
}

}  // namespace eipc
