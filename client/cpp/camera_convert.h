#ifndef EIPC_CLIENT_CPP_CAMERA_CONVERT_H_
#define EIPC_CLIENT_CPP_CAMERA_CONVERT_H_

#include "absl/status/statusor.h"
#include "client/cpp/camera.h"
#include "eipc/v1/observation.pb.h"

namespace eipc::client {

void CameraToProto(const Camera& camera, v1::Camera* out);
// DATA_LOSS when an array does not fit its shape.
absl::StatusOr<CameraPictures> PicturesFromProto(const v1::CameraPictures& pictures);

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_CAMERA_CONVERT_H_
