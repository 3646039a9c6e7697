// The module eipc-camera.so, see ray_scene.h.
#include <embree3/rtcore.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/sensor/ray_scene.h"

namespace eipc {
namespace {

// Trees are built by the calling thread, so that they do not depend on how many there are, and by the instructions that every
// processor of the build has.
constexpr char kDevice[] = "threads=1,start_threads=0,set_affinity=0,max_isa=avx2";

// Embree leaves out triangles with corners beyond 1e18 m.
constexpr double kFarthest = 1e15;

class EmbreeRayScene : public RayScene {
 public:
  explicit EmbreeRayScene(int64_t most_bytes) : most_bytes_(most_bytes) {}
  ~EmbreeRayScene() override {
    for (const Part& part : parts_) rtcReleaseGeometry(part.geometry);
    if (scene_ != nullptr) rtcReleaseScene(scene_);
    if (device_ != nullptr) rtcReleaseDevice(device_);
  }
  EmbreeRayScene(const EmbreeRayScene&) = delete;
  EmbreeRayScene& operator=(const EmbreeRayScene&) = delete;

  absl::Status Build(const std::vector<RaySurface>& surfaces, const std::vector<Vec3>& x) {
    device_ = rtcNewDevice(kDevice);
    if (device_ == nullptr) return absl::InternalError("cannot draw pictures: Embree does not start");
    rtcSetDeviceMemoryMonitorFunction(device_, &Count, this);
    scene_ = rtcNewScene(device_);
    rtcSetSceneFlags(scene_, RTC_SCENE_FLAG_DYNAMIC | RTC_SCENE_FLAG_ROBUST);
    rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_LOW);  // of two levels: a tree for each surface, and one of those
    for (size_t i = 0; i < surfaces.size(); ++i) {
      if (!surfaces[i].triangles.empty()) EIPC_RETURN_IF_ERROR(AddSurface(surfaces[i], static_cast<unsigned>(i), x));
    }
    return Commit();
  }

  absl::Status MoveTo(const std::vector<Vec3>& x) override {
    for (const Part& part : parts_) {
      if (!part.moves) continue;
      Place(part, x);
      rtcUpdateGeometryBuffer(part.geometry, RTC_BUFFER_TYPE_VERTEX, 0);
      rtcCommitGeometry(part.geometry);
    }
    return Commit();
  }

  void Trace(const Ray* rays, int64_t count, RayHit* hits) const override {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRayHit query = {};
    for (int64_t i = 0; i < count; ++i) {
      const Ray& ray = rays[i];
      query.ray.org_x = ray.origin[0], query.ray.org_y = ray.origin[1], query.ray.org_z = ray.origin[2];
      query.ray.dir_x = ray.direction[0], query.ray.dir_y = ray.direction[1], query.ray.dir_z = ray.direction[2];
      query.ray.tnear = ray.from, query.ray.tfar = ray.to;
      query.ray.mask = std::numeric_limits<unsigned>::max();
      query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
      query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
      rtcIntersect1(scene_, &context, &query);
      hits[i] = RayHit();
      if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) continue;
      hits[i] = {static_cast<int32_t>(query.hit.geomID), static_cast<int32_t>(query.hit.primID)};
    }
  }

  int64_t peak_bytes() const override { return peak_bytes_.load(); }

 private:
  struct Part {
    RTCGeometry geometry = nullptr;
    float* positions = nullptr;  // of Embree
    int32_t first_vertex = 0;
    int32_t vertex_count = 0;
    bool moves = false;
  };

  // Called before and after Embree takes memory, and when it gives some back. A refusal before it takes some is an error of its
  // call.
  static bool Count(void* scene, ssize_t bytes, bool taken) {
    auto& self = *static_cast<EmbreeRayScene*>(scene);
    const int64_t now = self.bytes_.fetch_add(bytes) + bytes;
    if (bytes > 0 && !taken && now > self.most_bytes_) {
      self.bytes_.fetch_sub(bytes);
      return false;
    }
    int64_t peak = self.peak_bytes_.load();
    while (now > peak && !self.peak_bytes_.compare_exchange_weak(peak, now)) {
    }
    return true;
  }

  absl::Status CheckDevice() {
    switch (const RTCError error = rtcGetDeviceError(device_)) {
      case RTC_ERROR_NONE:
        return absl::OkStatus();
      case RTC_ERROR_OUT_OF_MEMORY:
        return absl::ResourceExhaustedError(
            absl::StrCat("MEMORY_BUDGET: the surfaces that cameras see need more than ", most_bytes_, " bytes"));
      default:
        return absl::InternalError(absl::StrCat("cannot draw pictures: error ", static_cast<int>(error), " of Embree"));
    }
  }

  absl::Status AddSurface(const RaySurface& surface, unsigned id, const std::vector<Vec3>& x) {
    Part part;
    part.geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    parts_.push_back(part);  // released with the others from now on
    // The tree is that of the first positions; later ones change the boxes in it.
    rtcSetGeometryBuildQuality(part.geometry, surface.moves ? RTC_BUILD_QUALITY_REFIT : RTC_BUILD_QUALITY_MEDIUM);
    part.positions = static_cast<float*>(rtcSetNewGeometryBuffer(part.geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                                                 3 * sizeof(float), surface.vertex_count));
    auto* corners = static_cast<unsigned*>(rtcSetNewGeometryBuffer(part.geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                                                   3 * sizeof(unsigned), surface.triangles.size()));
    EIPC_RETURN_IF_ERROR(CheckDevice());
    for (const Triangle& triangle : surface.triangles) corners = std::copy(triangle.begin(), triangle.end(), corners);
    part.first_vertex = surface.first_vertex;
    part.vertex_count = surface.vertex_count;
    part.moves = surface.moves;
    parts_.back() = part;
    Place(part, x);
    rtcCommitGeometry(part.geometry);
    rtcAttachGeometryByID(scene_, part.geometry, id);
    return CheckDevice();
  }

  static void Place(const Part& part, const std::vector<Vec3>& x) {
    float* to = part.positions;
    for (int32_t v = 0; v < part.vertex_count; ++v) {
      for (int k = 0; k < 3; ++k) *to++ = static_cast<float>(std::clamp(x[part.first_vertex + v][k], -kFarthest, kFarthest));
    }
  }

  absl::Status Commit() {
    rtcCommitScene(scene_);
    return CheckDevice();
  }

  const int64_t most_bytes_;
  std::atomic<int64_t> bytes_ = 0;
  std::atomic<int64_t> peak_bytes_ = 0;
  RTCDevice device_ = nullptr;
  RTCScene scene_ = nullptr;
  std::vector<Part> parts_;
};

absl::StatusOr<std::unique_ptr<RayScene>> Make(const std::vector<RaySurface>& surfaces, const std::vector<Vec3>& x,
                                               int64_t most_bytes) {
  auto scene = std::make_unique<EmbreeRayScene>(most_bytes);
  EIPC_RETURN_IF_ERROR(scene->Build(surfaces, x));
  return scene;
}

}  // namespace
}  // namespace eipc

extern "C" {
extern const eipc::MakeRaySceneEntry EipcMakeRayScene;
const eipc::MakeRaySceneEntry EipcMakeRayScene = &eipc::Make;
}
