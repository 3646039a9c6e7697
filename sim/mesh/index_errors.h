#ifndef EIPC_SIM_MESH_INDEX_ERRORS_H_
#define EIPC_SIM_MESH_INDEX_ERRORS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "sim/base/status_macros.h"

namespace eipc {

// Collects the indices of bad elements of one kind; the error names the first five and counts the rest.
class IndexErrors {
 public:
  void Add(size_t index) {
    if (first_.size() < 5) first_.push_back(index);
    ++count_;
  }

  // OK when there are none; else e.g. "3 tetrahedra are inverted: 4, 8, 15".
  absl::Status ToStatus(absl::string_view what, absl::string_view is_wrong) const {
    if (count_ == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(count_, " ", what, " ", is_wrong, ": ", absl::StrJoin(first_, ", "), count_ > first_.size() ? ", ..." : ""));
  }

 private:
  std::vector<size_t> first_;
  size_t count_ = 0;
};

template <size_t N>
bool AllInRange(const std::array<int32_t, N>& indices, size_t count) {
  for (const int32_t i : indices) {
    if (i < 0 || static_cast<size_t>(i) >= count) return false;
  }
  return true;
}

}  // namespace eipc

#endif  // EIPC_SIM_MESH_INDEX_ERRORS_H_
