#ifndef EIPC_CLIENT_CPP_STACKED_H_
#define EIPC_CLIENT_CPP_STACKED_H_

// Observations of many worlds as one array a quantity, as the server sends them: a row of numbers for each world.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/cpp/geometry.h"
#include "client/cpp/types.h"

namespace eipc::client {

// Numbers of K worlds, row-major [K,width].
class WorldRows {
 public:
  WorldRows() = default;
  // `values` are a multiple of `width` > 0.
  WorldRows(size_t width, std::vector<double> values) : width_(width), values_(std::move(values)) {}
  size_t size() const { return width_ == 0 ? 0 : values_.size() / width_; }
  size_t width() const { return width_; }
  bool empty() const { return values_.empty(); }
  std::span<const double> operator[](size_t world) const {
    return std::span<const double>(values_).subspan(world * width_, width_);
  }
  std::span<const double> flat() const { return values_; }

 private:
  size_t width_ = 0;
  std::vector<double> values_;
};

// What is observed of every world alike.
struct StackOptions {
  // Groups that come stacked: poses, twists, cage_positions, surface_positions, contact_wrenches, contact_counts, min_distance,
  // solver_report, state_digest; cameras on servers with the capability `stacked_cameras`. Others are refused.
  Observe observe = {};
  // (body, other) of the wrenches and counts, each once.
  std::vector<std::pair<std::string, std::string>> pairs = {};
  // A batch sent again with the id of the last finished one is answered without stepping.
  std::string request_id = {};
};

// How the steps of K worlds were solved, [K] each, as in SolverReport.
struct StackedSolverReports {
  std::vector<StepOutcome> outcome;
  std::vector<int32_t> newton_iterations;
  std::vector<int32_t> missed_targets;
  std::vector<double> residual_m_s;
  std::vector<double> target_error_m;
  std::vector<double> wall_time_s;
  std::vector<uint8_t> ended_by_time;  // 0 or 1
};

// What a camera saw of K worlds, row by row from the top, one world after the other; empty where it was not asked for. Worlds
// without a picture have zeros.
struct StackedPictures {
  std::string name;
  WorldRows poses;                        // [K,7]: position m, quaternion w x y z of the camera as it stood in the world
  std::vector<float> depth;               // [K,height,width] m along the camera's z, infinite where nothing is
  std::vector<uint16_t> segmentation;     // [K,height,width] index in `camera_bodies`, CameraPicture::kNoBody where nothing is
  std::vector<uint8_t> colour;            // [K,height,width,3] red, green, blue
  std::map<int, std::string> unfinished;  // by row: why a world that was stepped has no picture
};

// Of K requests, in their order. What was not asked for is empty. The rows of requests that failed are zero, but for `step`.
struct StackedObservations {
  // By row; OK rows are not here.
  std::map<int, absl::Status> failures;
  std::vector<int64_t> step;  // [K]: where the worlds are, failed or not
  std::vector<double> time_s;
  std::vector<std::string> bodies;                                   // the B that are observed, in the scene's order
  std::vector<std::pair<std::string, std::string>> pairs;            // the P that were asked for
  WorldRows poses;                                                   // [K,B*7]: position m, quaternion w x y z
  WorldRows twists;                                                  // [K,B*6]: linear m/s, angular rad/s
  std::vector<WorldRows> cage_positions, surface_positions;          // for each body [K,n*3] m
  WorldRows contact_wrenches;                                        // [K,P*12], see Wrench
  std::vector<int32_t> point_triangle_contacts, edge_edge_contacts;  // [K*P]
  std::vector<double> min_distance_m;                                // [K]
  std::vector<std::string> state_digest;                             // [K], empty where a request failed
  StackedSolverReports solver;
  std::vector<std::string> camera_bodies = {};  // all of the scene, where there are cameras
  std::vector<StackedPictures> cameras = {};    // in the order of Observe::cameras

  size_t worlds() const { return step.size(); }
  // -1 when the body is not observed.
  int FindBody(const std::string& name) const;
  // Of a row and an index of `bodies`, where poses were asked for.
  Pose BodyPose(size_t row, size_t body) const;
  // Of a row and an index of `pairs`, where wrenches were asked for; zero without contact.
  ContactWrench Wrench(size_t row, size_t pair) const;
};

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_STACKED_H_
