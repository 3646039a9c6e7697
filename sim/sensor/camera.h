#ifndef EIPC_SIM_SENSOR_CAMERA_H_
#define EIPC_SIM_SENSOR_CAMERA_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/base/types.h"
#include "sim/dynamics/world.h"
#include "sim/sensor/ray_scene.h"

namespace eipc {

// A pinhole camera. Its frame has x to the right, y down and z forward; u and v of a pixel count from the left and from the top,
// and its ray goes through its centre, (u + 0.5, v + 0.5). Pixels are square.
struct Camera {
  int32_t body = -1;  // whose frame it is fixed in; -1: the world's
  Pose pose;          // of its frame in that one, m
  int32_t width = 0;  // pixels, >= 1
  int32_t height = 0;
  double fov_y_rad = 0;  // between the upper and the lower edge, in (0, pi)
  // What is seen has a depth from near_m to far_m; 0 < near_m < far_m.
  double near_m = 1e-3;
  double far_m = std::numeric_limits<double>::infinity();
  // What is wanted of it.
  bool depth = false;
  bool segmentation = false;
  bool colour = false;
};

// Segmentation of a pixel that shows no body.
inline constexpr uint16_t kNoBody = 0xffff;

// Row by row from the top; empty where it is not wanted.
struct Picture {
  std::vector<float> depth;            // m along the camera's z, infinite where nothing is
  std::vector<uint16_t> segmentation;  // index of the body in Model::bodies
  std::vector<uint8_t> colour;         // red, green, blue: a colour for each body, lit from the camera and from everywhere
};

// The surfaces of a world as cameras see them. Which triangle a pixel shows is found in single precision of the world's
// coordinates, its depth in double precision from the plane of the triangle. Pictures are a function of the model, the state and
// the camera: what was drawn before, or by how many threads, changes no bit.
class CameraScene {
 public:
  // RESOURCE_EXHAUSTED where it would hold more than EstimateBytes says; NOT_FOUND where the ray tracer is missing (ray_scene.h).
  static absl::StatusOr<std::unique_ptr<CameraScene>> Create(const Model& model);
  // What one holds at most, bytes.
  static int64_t EstimateBytes(const Model& model);

  // The world's surfaces as they are now. The world is of the scene that the camera scene was made of, and stays as it is while
  // pictures of it are drawn.
  absl::Status Follow(const World& world);

  // Where the camera is in that world.
  Pose PoseOf(const Camera& camera) const;
  // What it sees of the world. Not OK: the interrupt was raised, and the picture is not whole.
  absl::Status Draw(const Camera& camera, ThreadPool* pool, Interrupt* interrupt, Picture* out) const;

  // The most that it has held at a time, bytes.
  int64_t peak_bytes() const;

 private:
  explicit CameraScene(std::unique_ptr<RayScene> rays) : rays_(std::move(rays)) {}

  std::unique_ptr<RayScene> rays_;
  const World* world_ = nullptr;
  std::vector<Vec3> x_;  // of the world's surface
};

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_CAMERA_H_
