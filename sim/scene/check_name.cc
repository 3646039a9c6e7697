#include "sim/scene/check_name.h"

namespace eipc {

void CheckName(const std::string& name, const std::string& path, Problems* problems) {
  if (name.empty()) problems->Add(path, "must not be empty");
  CheckNameLength(name, path, problems);
}

void CheckNameLength(const std::string& name, const std::string& path, Problems* problems) {
  if (name.size() > kMostNameBytes) problems->Add(path, "must have at most ", kMostNameBytes, " bytes, has ", name.size());
}

}  // namespace eipc
