#include "tools/trajectory_file.h"

#include <nlohmann/json.hpp>

namespace eipc {

TrajectoryFile::~TrajectoryFile() {
  if (file_ != nullptr) std::fclose(file_);
}

absl::Status TrajectoryFile::Open(const std::string& path, int32_t vertices, double dt_s, int64_t steps) {
  path_ = path;
  file_ = std::fopen(path.c_str(), "wb");
  if (file_ == nullptr) return absl::InvalidArgumentError(path + ": cannot be written");
  std::vector<double> times;
  double time = 0;
  for (int64_t i = 0; i < steps; ++i) times.push_back(time += dt_s);
  const std::string header = nlohmann::ordered_json{{"vertices", vertices}, {"times", times}}.dump() + "\n";
  if (std::fputs(header.c_str(), file_) < 0) return absl::InternalError(path + ": writing failed (is the disk full?)");
  return absl::OkStatus();
}

absl::Status TrajectoryFile::Write(const std::vector<Vec3>& x) {
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  if (std::fwrite(x.data(), sizeof(Vec3), x.size(), file_) != x.size()) {
    return absl::InternalError(path_ + ": writing failed (is the disk full?)");
  }
  return absl::OkStatus();
}

absl::Status TrajectoryFile::Close() {
  if (file_ == nullptr) return absl::OkStatus();
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) return absl::InternalError(path_ + ": writing failed (is the disk full?)");
  return absl::OkStatus();
}

}  // namespace eipc
