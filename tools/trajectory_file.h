#ifndef EIPC_TOOLS_TRAJECTORY_FILE_H_
#define EIPC_TOOLS_TRAJECTORY_FILE_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/types.h"

namespace eipc {

// Surface positions over time: a line of JSON, {"vertices": N, "times": [...]}, then float64 little-endian frames [T, N, 3].
class TrajectoryFile {
 public:
  TrajectoryFile() = default;
  ~TrajectoryFile();
  TrajectoryFile(const TrajectoryFile&) = delete;
  TrajectoryFile& operator=(const TrajectoryFile&) = delete;

  absl::Status Open(const std::string& path, int32_t vertices, double dt_s, int64_t steps);
  absl::Status Write(const std::vector<Vec3>& x);
  absl::Status Close();  // OK when nothing was opened

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
};

}  // namespace eipc

#endif  // EIPC_TOOLS_TRAJECTORY_FILE_H_
