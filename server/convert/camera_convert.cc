#include "server/convert/camera_convert.h"

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "eipc/v1/observation.pb.h"
#include "server/convert/body_names.h"
#include "server/convert/geometry_convert.h"
#include "server/convert/wire_check.h"
#include "sim/base/status_macros.h"
#include "sim/scene/problems.h"

namespace eipc {
namespace {

constexpr int kMostCameras = 64;
constexpr int kMostSide = 4096;
constexpr int64_t kMostPixels = int64_t{1} << 22;
constexpr size_t kMostNameBytes = 256;
constexpr double kFarthest = 1e6;
constexpr double kNearest = 1e-3;  // where near_m is 0

absl::Status Invalid(const Problems& problems) {
  return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", problems.ToStatus().message()));
}

void CheckSide(int side, const std::string& path, Problems* problems) {
  if (side < 1 || side > kMostSide) problems->Add(path, "must be in [1, ", kMostSide, "], got ", side);
}

// Of a message whose numbers are finite.
Camera CameraFromProto(const v1::Camera& message, const std::string& path, Problems* problems) {
  Camera camera;
  camera.pose = PoseFromProto(message.pose(), path + ".pose", problems);
  if (camera.pose.position.cwiseAbs().maxCoeff() > kFarthest) {
    problems->Add(path + ".pose.position_m", "must be within ", kFarthest, " m");
  }
  CheckSide(camera.width = message.width(), path + ".width", problems);
  CheckSide(camera.height = message.height(), path + ".height", problems);
  camera.fov_y_rad = message.fov_y_rad();
  if (!(camera.fov_y_rad > 0 && camera.fov_y_rad < std::numbers::pi)) {
    problems->Add(path + ".fov_y_rad", "must be in (0, pi), got ", camera.fov_y_rad);
  }
  if (message.near_m() < 0) problems->Add(path + ".near_m", "must be >= 0, got ", message.near_m());
  if (message.far_m() < 0) problems->Add(path + ".far_m", "must be >= 0, got ", message.far_m());
  camera.near_m = message.near_m() == 0 ? kNearest : message.near_m();
  camera.far_m = message.far_m() == 0 ? std::numeric_limits<double>::infinity() : message.far_m();
  if (camera.far_m <= camera.near_m) {
    problems->Add(path + ".far_m", "must be greater than near_m (", camera.near_m, "), got ", camera.far_m);
  }
  camera.depth = message.depth();
  camera.segmentation = message.segmentation();
  camera.colour = message.colour();
  if (!camera.depth && !camera.segmentation && !camera.colour) {
    problems->Add(path, "must ask for depth, segmentation or colour");
  }
  return camera;
}

void CameraToProto(const Camera& camera, const std::string& name, v1::Camera* out) {
  out->set_name(name);
  out->set_width(camera.width);
  out->set_height(camera.height);
  out->set_fov_y_rad(camera.fov_y_rad);
  out->set_near_m(camera.near_m);
  if (std::isfinite(camera.far_m)) out->set_far_m(camera.far_m);
  out->set_depth(camera.depth);
  out->set_segmentation(camera.segmentation);
  out->set_colour(camera.colour);
}

template <typename T>
void PixelsToProto(const std::vector<T>& values, v1::DataType type, std::initializer_list<int64_t> shape, v1::NdArray* out) {
  out->set_dtype(type);
  out->mutable_shape()->Assign(shape.begin(), shape.end());
  out->mutable_data()->assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

void PictureToProto(const Camera& camera, const Picture& picture, v1::CameraPicture* out) {
  const int64_t height = camera.height, width = camera.width;
  if (camera.depth) PixelsToProto(picture.depth, v1::FLOAT32, {height, width}, out->mutable_depth());
  if (camera.segmentation) PixelsToProto(picture.segmentation, v1::UINT16, {height, width}, out->mutable_segmentation());
  if (camera.colour) PixelsToProto(picture.colour, v1::UINT8, {height, width, 3}, out->mutable_colour());
}

// What a call's end means for a picture that was being drawn.
std::string WhyUnfinished(const absl::Status& status) {
  const bool ended = absl::IsCancelled(status) || absl::IsDeadlineExceeded(status);
  return absl::StrCat(absl::StatusCodeToString(status.code()), ": ",
                      ended ? "the call ended before the picture was drawn" : status.message());
}

v1::CameraPictures* Pictures(const Model& model, v1::Observation* out) {
  v1::CameraPictures* pictures = out->mutable_cameras();
  pictures->Clear();
  for (const Body& body : model.bodies) pictures->add_bodies(body.name);
  return pictures;
}

}  // namespace

absl::StatusOr<CameraPlan> CameraPlan::Create(const Model& model, const v1::ObservationRequest& request, absl::string_view path) {
  CameraPlan plan;
  Problems problems;
  const std::string all = absl::StrCat(path, ".cameras");
  if (request.cameras_size() > kMostCameras) {
    problems.Add(all, "must be at most ", kMostCameras, ", got ", request.cameras_size());
    return Invalid(problems);
  }
  if (request.cameras_size() > 0 && model.bodies.size() >= kNoBody) {
    problems.Add(all, "must be empty for scenes of ", int{kNoBody}, " and more bodies");
    return Invalid(problems);
  }
  std::set<absl::string_view> names;
  int64_t pixels = 0;
  for (int i = 0; i < request.cameras_size(); ++i) {
    const v1::Camera& message = request.cameras(i);
    const std::string where = absl::StrCat(all, "[", i, "]");
    CheckFiniteAndKnown(message, where, &problems);
    if (message.name().empty() || message.name().size() > kMostNameBytes) {
      problems.Add(where + ".name", "must have 1 to ", kMostNameBytes, " bytes, got ", message.name().size());
    } else if (!names.insert(message.name()).second) {
      problems.Add(where + ".name", "another camera has it");
    }
    if (problems.empty()) plan.cameras_.push_back(CameraFromProto(message, where, &problems));
    if (!problems.empty()) return Invalid(problems);
    if (!message.body().empty()) {
      EIPC_ASSIGN_OR_RETURN(plan.cameras_.back().body, FindNamedBody(model, message.body(), where + ".body"));
    }
    plan.names_.push_back(message.name());
    pixels += int64_t{message.width()} * message.height();
  }
  if (pixels > kMostPixels) {
    problems.Add(all, "must have at most ", kMostPixels, " pixels together, got ", pixels);
    return Invalid(problems);
  }
  return plan;
}

int64_t CameraPlan::MostBytes(const Model& model) const {
  if (empty()) return 0;
  constexpr int64_t kPerCamera = 1024, kPerName = 4;
  int64_t bytes = 0;
  for (const Body& body : model.bodies) bytes += kPerName + static_cast<int64_t>(body.name.size());
  for (const Camera& camera : cameras_) {
    const int64_t pixels = int64_t{camera.width} * camera.height;
    bytes += kPerCamera + pixels * ((camera.depth ? sizeof(float) : 0) + (camera.segmentation ? sizeof(uint16_t) : 0) +
                                    (camera.colour ? 3 * sizeof(uint8_t) : 0));
  }
  return bytes;
}

absl::Status CameraPlan::Draw(const Model& model, const CameraScene& scene, ThreadPool* pool, Interrupt* interrupt,
                              v1::Observation* out) const {
  v1::CameraPictures& pictures = *Pictures(model, out);
  absl::Status status;
  Picture picture;
  for (size_t i = 0; i < cameras_.size(); ++i) {
    v1::CameraPicture& drawn = *pictures.add_pictures();
    CameraToProto(cameras_[i], names_[i], drawn.mutable_camera());
    PoseToProto(scene.PoseOf(cameras_[i]), drawn.mutable_camera()->mutable_pose());
    if (status.ok()) status = scene.Draw(cameras_[i], pool, interrupt, &picture);
    if (status.ok()) {
      PictureToProto(cameras_[i], picture, &drawn);
    } else {
      drawn.set_unfinished(WhyUnfinished(status));
    }
  }
  return status;
}

void CameraPlan::Refuse(const Model& model, const absl::Status& why, v1::Observation* out) const {
  v1::CameraPictures& pictures = *Pictures(model, out);
  for (size_t i = 0; i < cameras_.size(); ++i) {
    v1::CameraPicture& refused = *pictures.add_pictures();
    CameraToProto(cameras_[i], names_[i], refused.mutable_camera());
    refused.set_unfinished(WhyUnfinished(why));
  }
}

}  // namespace eipc
