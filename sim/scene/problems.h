#ifndef EIPC_SIM_SCENE_PROBLEMS_H_
#define EIPC_SIM_SCENE_PROBLEMS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace eipc {

// Every problem found in a scene, each with its path in the scene message, e.g.
// `bodies[2].material.youngs_modulus_pa: must be > 0, got -5`. The first are kept, each up to a length; all are counted.
class Problems {
 public:
  template <typename... Parts>
  void Add(const std::string& path, const Parts&... parts) {
    ++count_;
    if (lines_.size() < kMostLines) Keep(absl::StrCat(path, ": ", parts...));
  }
  bool empty() const { return count_ == 0; }
  // Of all that were added.
  int64_t count() const { return count_; }
  static constexpr size_t kMostLines = 200;
  static constexpr size_t kMostLineBytes = 1000;
  // The first kMostLines.
  const std::vector<std::string>& lines() const { return lines_; }
  // INVALID_ARGUMENT with one line a problem, or OK.
  absl::Status ToStatus() const;

 private:
  void Keep(std::string line);

  std::vector<std::string> lines_;
  int64_t count_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_PROBLEMS_H_
