#ifndef EIPC_SERVER_CONVERT_CAMERA_CONVERT_H_
#define EIPC_SERVER_CONVERT_CAMERA_CONVERT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/sensor/camera.h"

namespace eipc::v1 {
class Observation;
class ObservationRequest;
}  // namespace eipc::v1

namespace eipc {

// The cameras of an observation: what was asked for, and how their pictures are written.
class CameraPlan {
 public:
  CameraPlan() = default;
  // INVALID_ARGUMENT for what no camera has, NOT_FOUND for an unknown body; they name the request's fields from `path` on.
  static absl::StatusOr<CameraPlan> Create(const Model& model, const v1::ObservationRequest& request, absl::string_view path);

  bool empty() const { return cameras_.empty(); }
  // The most that the pictures take on the wire, bytes.
  int64_t MostBytes(const Model& model) const;

  // Adds the pictures to the observation, or says in them why they are not whole. Not OK: the interrupt was raised.
  absl::Status Draw(const Model& model, const CameraScene& scene, ThreadPool* pool, Interrupt* interrupt,
                    v1::Observation* out) const;
  // Says of all pictures why there are none.
  void Refuse(const Model& model, const absl::Status& why, v1::Observation* out) const;

 private:
  std::vector<Camera> cameras_;
  std::vector<std::string> names_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_CAMERA_CONVERT_H_
