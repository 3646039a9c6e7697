#include "sim/sensor/camera.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/placement.h"
#include "sim/sensor/body_motion.h"

namespace eipc {
namespace {

// Pixels between two looks at the interrupt: less than a millisecond.
constexpr int64_t kPixelsAtOnce = 4096;

// The share of light that comes from everywhere; the rest comes from the camera.
constexpr double kAmbient = 0.3;
// Colours of bodies, in turn, and of nothing.
constexpr std::array<std::array<double, 3>, 8> kPalette = {{{0.85, 0.60, 0.35},
                                                            {0.35, 0.60, 0.85},
                                                            {0.55, 0.75, 0.40},
                                                            {0.80, 0.45, 0.55},
                                                            {0.60, 0.50, 0.80},
                                                            {0.75, 0.75, 0.45},
                                                            {0.45, 0.75, 0.75},
                                                            {0.70, 0.70, 0.70}}};
constexpr uint8_t kBackground = 255;

// A coordinate or a length, m, for the ray tracer.
float Single(double value) {
  constexpr double kMost = 1e15;
  return static_cast<float>(std::clamp(value, -kMost, kMost));
}

// Where a camera stands and looks.
struct Lens {
  Lens(const Camera& camera, const Pose& pose)
      : eye(pose.position),
        axes(pose.rotation.toRotationMatrix()),
        focal(0.5 * camera.height / std::tan(0.5 * camera.fov_y_rad)),
        middle(0.5 * camera.width, 0.5 * camera.height) {}

  // Through the centre of a pixel, world frame; 1 along the camera's z.
  Vec3 Direction(int32_t u, int32_t v) const {
    return axes * Vec3((u + 0.5 - middle.x()) / focal, (v + 0.5 - middle.y()) / focal, 1);
  }

  Vec3 eye;
  Mat3 axes;
  double focal;  // pixels
  Vec2 middle;
};

using Corners = std::array<Vec3, 3>;

// Where the ray meets the plane of a triangle, as a multiple of its direction. What rounding takes out of the triangle is put back.
double PlaneDepth(const Lens& lens, const Vec3& direction, const Corners& corners, const Vec3& normal) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Vec3& corner : corners) {
    const double z = lens.axes.col(2).dot(corner - lens.eye);
    low = std::min(low, z);
    high = std::max(high, z);
  }
  const double depth = normal.dot(corners[0] - lens.eye) / normal.dot(direction);
  return depth >= low ? std::min(depth, high) : low;
}

void PutColour(int32_t body, const Vec3& normal, const Vec3& direction, uint8_t* out) {
  const double length = normal.norm() * direction.norm();
  const double cosine = length > 0 ? std::min(1.0, std::abs(normal.dot(direction)) / length) : 0;
  const double light = kAmbient + (1 - kAmbient) * cosine;
  for (int k = 0; k < 3; ++k) out[k] = static_cast<uint8_t>(std::nearbyint(255 * light * kPalette[body % kPalette.size()][k]));
}

// Draws rows of a picture; several threads may draw different rows.
class Painter {
 public:
  Painter(const Camera& camera, const Pose& pose, const Model& model, const std::vector<Vec3>& x, Picture* out)
      : camera_(camera), lens_(camera, pose), model_(model), x_(x), out_(*out) {}

  void DrawRows(const RayScene& scene, int32_t begin, int32_t end, Interrupt* interrupt) const {
    std::vector<Ray> rays(camera_.width);
    std::vector<RayHit> hits(camera_.width);
    std::vector<Vec3> directions(camera_.width);
    const std::array<float, 3> eye = {Single(lens_.eye.x()), Single(lens_.eye.y()), Single(lens_.eye.z())};
    const float near = Single(camera_.near_m), far = Single(camera_.far_m);
    for (int32_t v = begin; v < end && !Raised(interrupt); ++v) {
      for (int32_t u = 0; u < camera_.width; ++u) {
        directions[u] = lens_.Direction(u, v);
        const Vec3& direction = directions[u];
        rays[u] = {eye, {Single(direction.x()), Single(direction.y()), Single(direction.z())}, near, far};
      }
      scene.Trace(rays.data(), camera_.width, hits.data());
      for (int32_t u = 0; u < camera_.width; ++u) PutPixel(int64_t{v} * camera_.width + u, directions[u], hits[u]);
    }
  }

 private:
  void PutPixel(int64_t pixel, const Vec3& direction, const RayHit& hit) const {
    if (hit.surface < 0) return;  // pictures begin empty
    if (camera_.segmentation) out_.segmentation[pixel] = static_cast<uint16_t>(hit.surface);
    if (!camera_.depth && !camera_.colour) return;
    const Body& body = model_.bodies[hit.surface];
    const Triangle& triangle = model_.surface.triangles[body.triangles.begin + hit.triangle];
    const Corners corners = {x_[triangle[0]], x_[triangle[1]], x_[triangle[2]]};
    const Vec3 normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    if (camera_.depth) {
      const double depth = PlaneDepth(lens_, direction, corners, normal);
      out_.depth[pixel] = static_cast<float>(std::clamp(depth, camera_.near_m, camera_.far_m));
    }
    if (camera_.colour) PutColour(hit.surface, normal, direction, &out_.colour[3 * pixel]);
  }

  const Camera& camera_;
  const Lens lens_;
  const Model& model_;
  const std::vector<Vec3>& x_;
  Picture& out_;
};

std::vector<RaySurface> SurfacesOf(const Model& model) {
  std::vector<RaySurface> surfaces(model.bodies.size());
  for (size_t b = 0; b < surfaces.size(); ++b) {
    const Body& body = model.bodies[b];
    RaySurface& surface = surfaces[b];
    surface.first_vertex = body.vertices.begin;
    surface.vertex_count = body.vertices.size();
    surface.moves = body.traits.moves;
    for (int32_t t = body.triangles.begin; t < body.triangles.end; ++t) {
      Triangle triangle = model.surface.triangles[t];
      for (int32_t& v : triangle) v -= body.vertices.begin;
      surface.triangles.push_back(triangle);
    }
  }
  return surfaces;
}

int64_t RayBytes(const Model& model) {
  constexpr int64_t kFixed = int64_t{1} << 20, kPerBody = 8 << 10, kPerTriangle = 320;
  return kFixed + kPerBody * static_cast<int64_t>(model.bodies.size()) +
         kPerTriangle * static_cast<int64_t>(model.surface.triangles.size());
}

}  // namespace

absl::StatusOr<std::unique_ptr<CameraScene>> CameraScene::Create(const Model& model) {
  EIPC_ASSIGN_OR_RETURN(std::unique_ptr<RayScene> rays, MakeRayScene(SurfacesOf(model), PlacedSurface(model), RayBytes(model)));
  return std::unique_ptr<CameraScene>(new CameraScene(std::move(rays)));
}

int64_t CameraScene::EstimateBytes(const Model& model) {
  return RayBytes(model) + static_cast<int64_t>(sizeof(Vec3) * model.embedding.size());
}

absl::Status CameraScene::Follow(const World& world) {
  world_ = &world;
  world.SurfacePositions(&x_);
  return rays_->MoveTo(x_);
}

Pose CameraScene::PoseOf(const Camera& camera) const {
  return camera.body < 0 ? camera.pose : BodyPose(world_->model(), world_->state(), camera.body) * camera.pose;
}

absl::Status CameraScene::Draw(const Camera& camera, ThreadPool* pool, Interrupt* interrupt, Picture* out) const {
  const int64_t pixels = int64_t{camera.width} * camera.height;
  out->depth.assign(camera.depth ? pixels : 0, std::numeric_limits<float>::infinity());
  out->segmentation.assign(camera.segmentation ? pixels : 0, kNoBody);
  out->colour.assign(camera.colour ? 3 * pixels : 0, kBackground);
  const Painter painter(camera, PoseOf(camera), world_->model(), x_, out);
  pool->ParallelFor(camera.height, std::max<int64_t>(1, kPixelsAtOnce / camera.width), [&](int64_t begin, int64_t end) {
    painter.DrawRows(*rays_, static_cast<int32_t>(begin), static_cast<int32_t>(end), interrupt);
  });
  return Poll(interrupt);
}

int64_t CameraScene::peak_bytes() const { return rays_->peak_bytes() + static_cast<int64_t>(x_.capacity() * sizeof(Vec3)); }

}  // namespace eipc
