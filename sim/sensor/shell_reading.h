#ifndef EIPC_SIM_SENSOR_SHELL_READING_H_
#define EIPC_SIM_SENSOR_SHELL_READING_H_

// How a sheet lies: what tasks with cloth are judged by.

#include <optional>
#include <string>
#include <vector>

#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

struct KeypointReading {
  std::string name;
  Vec3 position, velocity;  // m, m/s, world
};

struct OpeningReading {
  std::string name;
  double area_m2 = 0;  // length of the vector area 1/2 sum x_i x x_i+1 of the loop
  Vec3 normal = Vec3::Zero();
};

// What a sheet covers as seen along a direction, sampled on a grid of kCoverageCells cells over its larger extent.
struct Coverage {
  double area_m2 = 0;
  double mean_layers = 0;  // of the covered area
  int most_layers = 0;
};
inline constexpr int kCoverageCells = 256;

struct ShellReading {
  std::vector<KeypointReading> keypoints;
  std::vector<OpeningReading> openings;
  std::optional<double> fold_error_m;  // mean distance of the fold pairs
  double rest_area_m2 = 0;
  Coverage coverage;               // along gravity, or z where there is none
  std::vector<Vec2> stretches;     // principal, by triangle, the larger first
  std::vector<Vec2> tensions_n_m;  // Cauchy, along the same directions, without damping
};

// Nothing: the body is no shell.
std::optional<ShellReading> ReadShell(const Model& model, const State& state, int body);

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_SHELL_READING_H_
