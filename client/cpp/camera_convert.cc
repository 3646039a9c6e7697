#include "client/cpp/camera_convert.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/convert.h"

namespace eipc::client {
namespace {

// Elements of a picture [height,width], of so many to a pixel [height,width,n].
template <typename T>
absl::Status PixelsFromProto(const v1::NdArray& array, v1::DataType type, const Camera& camera, std::vector<T>* out,
                             int64_t each = 1) {
  if (array.shape().empty()) return absl::OkStatus();
  const bool flat = each == 1;
  const bool fits = array.dtype() == type && array.shape_size() == (flat ? 2 : 3) && array.shape(0) == camera.height &&
                    array.shape(1) == camera.width && (flat || array.shape(2) == each);
  const uint64_t count = uint64_t(each) * static_cast<uint32_t>(camera.height) * static_cast<uint32_t>(camera.width);
  if (!fits || count > array.data().size() || count * sizeof(T) != array.data().size()) {
    return absl::DataLossError(absl::StrCat("the server sent a picture of camera '", camera.name, "' that does not fit its shape"));
  }
  out->resize(count);
  if (count > 0) std::memcpy(out->data(), array.data().data(), array.data().size());
  return absl::OkStatus();
}

absl::StatusOr<CameraPicture> PictureFromProto(const v1::CameraPicture& message) {
  const v1::Camera& seen = message.camera();
  CameraPicture picture;
  picture.camera = {seen.name(),   PoseFromProto(seen.pose()), seen.body(),   seen.width(),
                    seen.height(), seen.fov_y_rad(),           seen.near_m(), seen.far_m(),
                    seen.depth(),  seen.segmentation(),        seen.colour()};
  absl::Status status = PixelsFromProto(message.depth(), v1::FLOAT32, picture.camera, &picture.depth);
  if (status.ok()) status = PixelsFromProto(message.segmentation(), v1::UINT16, picture.camera, &picture.segmentation);
  if (status.ok()) status = PixelsFromProto(message.colour(), v1::UINT8, picture.camera, &picture.colour, 3);
  if (!status.ok()) return status;
  picture.unfinished = message.unfinished();
  return picture;
}

}  // namespace

void CameraToProto(const Camera& camera, v1::Camera* out) {
  out->set_name(camera.name);
  VectorToProto(camera.pose.position_m, out->mutable_pose()->mutable_position_m());
  QuaternionToProto(camera.pose.quaternion_wxyz, out->mutable_pose()->mutable_quaternion());
  out->set_body(camera.body);
  out->set_width(camera.width);
  out->set_height(camera.height);
  out->set_fov_y_rad(camera.fov_y_rad);
  out->set_near_m(camera.near_m);
  out->set_far_m(camera.far_m);
  out->set_depth(camera.depth);
  out->set_segmentation(camera.segmentation);
  out->set_colour(camera.colour);
}

absl::StatusOr<CameraPictures> PicturesFromProto(const v1::CameraPictures& pictures) {
  CameraPictures result;
  result.bodies.assign(pictures.bodies().begin(), pictures.bodies().end());
  for (const v1::CameraPicture& message : pictures.pictures()) {
    absl::StatusOr<CameraPicture> picture = PictureFromProto(message);
    if (!picture.ok()) return picture.status();
    result.pictures.push_back(*std::move(picture));
  }
  return result;
}

}  // namespace eipc::client
