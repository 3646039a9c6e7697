#include "sim/scene/check_name.h"

namespace eipc {

void CheckName(const std::string& name, const std::string& path, Problems* problems) {
  if (name.empty()) problems->Add(path, "must not be empty");
  CheckNameLength(name, path, problems);
}

void CheckUniqueName(const std::string& name, absl::string_view noun, const std::string& path, std::set<std::string>* used,
                     Problems* problems) {
  CheckName(name, path, problems);
  if (!used->insert(name).second) problems->Add(path, "\"", name, "\" is used by another ", noun);
}

void CheckNameLength(const std::string& name, const std::string& path, Problems* problems) {
  if (name.size() > kMostNameBytes) problems->Add(path, "must have at most ", kMostNameBytes, " bytes, has ", name.size());
}

}  // namespace eipc
