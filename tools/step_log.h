#ifndef EIPC_TOOLS_STEP_LOG_H_
#define EIPC_TOOLS_STEP_LOG_H_

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/dynamics/world.h"

namespace eipc {

// One line a step with what its report says, the energies of its end and what the drives of sliders did: tab-separated, columns
// named in the first line (docs/reference/eipc_run.md).
class StepLog {
 public:
  StepLog() = default;
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;

  absl::Status Open(const std::string& path, const Model& model);
  // Nothing where no file is open. `x`: surface positions of the world's state.
  absl::Status Write(const World& world, const std::vector<Vec3>& x);
  absl::Status Close();

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
};

}  // namespace eipc

#endif  // EIPC_TOOLS_STEP_LOG_H_
