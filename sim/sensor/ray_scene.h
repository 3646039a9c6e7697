#ifndef EIPC_SIM_SENSOR_RAY_SCENE_H_
#define EIPC_SIM_SENSOR_RAY_SCENE_H_

// Surfaces that rays are sent at: what cameras (camera.h) need of a ray tracer.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/types.h"

namespace eipc {

// Points origin + s direction with from <= s <= to, world frame. In single precision, as the tracer computes.
struct Ray {
  std::array<float, 3> origin;
  std::array<float, 3> direction;  // of any length
  float from = 0;
  float to = 0;
};

// The first triangle that a ray meets, from either side.
struct RayHit {
  int32_t surface = -1;   // -1: it meets none
  int32_t triangle = -1;  // of RaySurface::triangles
};

// A triangulated part of all vertices, one for each body.
struct RaySurface {
  std::vector<Triangle> triangles;  // vertices counted from first_vertex on
  int32_t first_vertex = 0;
  int32_t vertex_count = 0;
  bool moves = false;  // MoveTo changes its positions
};

// Which triangle a ray meets is a function of the surfaces, the positions that the scene was made with, and the present ones:
// neither what was traced before nor positions in between change a bit of it. On every processor that runs the program the same
// instructions are used.
class RayScene {
 public:
  virtual ~RayScene() = default;
  // x: positions of all vertices, m. RESOURCE_EXHAUSTED when there is no memory left.
  virtual absl::Status MoveTo(const std::vector<Vec3>& x) = 0;
  // hits[i] of rays[i]. May be called by several threads at once, not beside MoveTo.
  virtual void Trace(const Ray* rays, int64_t count, RayHit* hits) const = 0;
  // The most that it has held at a time, bytes.
  virtual int64_t peak_bytes() const = 0;
};

// x: where the surfaces are placed at first, m. RESOURCE_EXHAUSTED when it would hold more than most_bytes. By Embree, in the
// module eipc-camera.so, which is loaded at the first call (sim/base/module.h); NOT_FOUND where it is missing.
absl::StatusOr<std::unique_ptr<RayScene>> MakeRayScene(const std::vector<RaySurface>& surfaces, const std::vector<Vec3>& x,
                                                       int64_t most_bytes);

// The module has a pointer to its function, by this name. Program and module are of one build.
using MakeRaySceneEntry = absl::StatusOr<std::unique_ptr<RayScene>> (*)(const std::vector<RaySurface>& surfaces,
                                                                        const std::vector<Vec3>& x, int64_t most_bytes);
inline constexpr char kMakeRaySceneEntry[] = "EipcMakeRayScene";

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_RAY_SCENE_H_
