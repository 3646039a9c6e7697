#ifndef EIPC_SIM_DYNAMICS_SHELL_MARKS_H_
#define EIPC_SIM_DYNAMICS_SHELL_MARKS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace eipc {

// What observations of a shell name; nodes are those of the model.
struct ShellMarks {
  struct Keypoint {
    std::string name;
    std::vector<int32_t> nodes;
    std::vector<double> weights;  // sum to 1
  };
  struct Opening {
    std::string name;
    std::vector<int32_t> nodes;  // around it, in order
  };
  std::vector<Keypoint> keypoints;
  std::vector<Opening> openings;
  std::vector<std::pair<int32_t, int32_t>> fold_pairs;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SHELL_MARKS_H_
