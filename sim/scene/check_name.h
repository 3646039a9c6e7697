#ifndef EIPC_SIM_SCENE_CHECK_NAME_H_
#define EIPC_SIM_SCENE_CHECK_NAME_H_

#include <cstddef>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/scene/problems.h"

namespace eipc {

// The longest name of a body or of a part of a scene, in bytes: lists and observations repeat names.
inline constexpr size_t kMostNameBytes = 256;

// Adds a problem where a name is empty or longer than that.
void CheckName(const std::string& name, const std::string& path, Problems* problems);

// The same, and where it is among those used, to which it is added: "NAME is used by another NOUN".
void CheckUniqueName(const std::string& name, absl::string_view noun, const std::string& path, std::set<std::string>* used,
                     Problems* problems);

// Adds a problem where a name, which may be empty, is longer than that.
void CheckNameLength(const std::string& name, const std::string& path, Problems* problems);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_CHECK_NAME_H_
