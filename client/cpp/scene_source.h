#ifndef EIPC_CLIENT_CPP_SCENE_SOURCE_H_
#define EIPC_CLIENT_CPP_SCENE_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/types.h"

namespace eipc::v1 {
class Scene;
}  // namespace eipc::v1

namespace eipc::client {

// A frame that the scene moves, and how.
struct DrivenFrame {
  struct Key {
    double time_s = 0;
    Pose pose;
  };
  std::string body;
  std::string boundary_set;  // empty for a kinematic body
  std::vector<Key> keys;     // increasing times, not empty

  // Positions linear, rotations slerped, held before the first and after the last key.
  Pose At(double time_s) const;
};

// A scene read from a text-proto file, its mesh files put into it, so that the server needs no disk in common with the client.
class SceneSource {
 public:
  // Mesh paths are relative to the file; "data:PATH" below `data_folder` (default: the environment's EIPC_DATA).
  // NOT_FOUND, or INVALID_ARGUMENT with line and column.
  static absl::StatusOr<SceneSource> FromFile(const std::string& path, const std::string& data_folder = "");
  // The same from text; meshes relative to `base_folder`.
  static absl::StatusOr<SceneSource> FromText(const std::string& text, const std::string& base_folder = ".",
                                              const std::string& data_folder = "");

  SceneSource(SceneSource&&) noexcept;
  SceneSource& operator=(SceneSource&&) noexcept;
  ~SceneSource();

  // Boundary sets and kinematic bodies that have a trajectory.
  std::vector<DrivenFrame> DrivenFrames() const;
  // For callers that build or read messages themselves.
  const v1::Scene& message() const { return *scene_; }
  v1::Scene& message() { return *scene_; }

 private:
  explicit SceneSource(std::unique_ptr<v1::Scene> scene);
  static absl::StatusOr<SceneSource> Read(const std::string& text, const std::string& name, const std::string& base_folder,
                                          const std::string& data_folder);
  std::unique_ptr<v1::Scene> scene_;
};

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_SCENE_SOURCE_H_
