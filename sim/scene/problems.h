#ifndef EIPC_SIM_SCENE_PROBLEMS_H_
#define EIPC_SIM_SCENE_PROBLEMS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace eipc {

// Every problem found in a scene, each with its path in the scene message, e.g.
// `bodies[2].material.youngs_modulus_pa: must be > 0, got -5`.
class Problems {
 public:
  template <typename... Parts>
  void Add(const std::string& path, const Parts&... parts) {
    lines_.push_back(absl::StrCat(path, ": ", parts...));
  }
  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& lines() const { return lines_; }
  // INVALID_ARGUMENT with one line a problem, or OK.
  absl::Status ToStatus() const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_PROBLEMS_H_
