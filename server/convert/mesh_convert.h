#ifndef EIPC_SERVER_CONVERT_MESH_CONVERT_H_
#define EIPC_SERVER_CONVERT_MESH_CONVERT_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/convert/mesh_resolver.h"
#include "sim/mesh/mesh_data.h"

namespace eipc::v1 {
class Mesh;
class MeshArrays;
class Scene;
}  // namespace eipc::v1

namespace eipc {

class MemoryMeter;
class Problems;

// How much may be read for one request.
struct ReadLimits {
  // Asked before more is held; nullptr: no bound.
  MemoryMeter* meter = nullptr;
  // Sum over the meshes.
  int64_t max_vertices = std::numeric_limits<int64_t>::max();
};

// Reads the meshes of one scene: from files and shared files (each once), inline arrays or inline file contents; scaled.
class MeshReader {
 public:
  // `scene` is where shared files are; nullptr: there are none.
  explicit MeshReader(const MeshResolver& resolver, const ReadLimits& limits = {}, const v1::Scene* scene = nullptr)
      : resolver_(resolver), limits_(limits), scene_(scene) {}

  // An empty mesh when there is a problem with it, which is then added at `path`, or when a limit was reached.
  MeshData Read(const v1::Mesh& mesh, const std::string& path, Problems* problems);
  // RESOURCE_EXHAUSTED once a limit was reached: nothing is read any more.
  const absl::Status& status() const { return status_; }

 private:
  using Shared = std::shared_ptr<const MeshData>;
  MeshData ReadSource(const v1::Mesh& mesh, const std::string& path, Problems* problems);
  absl::StatusOr<MeshData> ReadFile(const std::string& reference);
  absl::StatusOr<MeshData> ReadSharedFile(int index);
  // A copy for one body of what was read for all, once it is known to fit; notes a limit that was reached.
  template <typename Key, typename ReadIt>
  absl::StatusOr<MeshData> Once(std::map<Key, absl::StatusOr<Shared>>* known, const Key& key, ReadIt&& read);
  absl::Status Count(const MeshData& mesh);

  const MeshResolver& resolver_;
  const ReadLimits limits_;
  const v1::Scene* const scene_;
  absl::Status status_;
  int64_t vertices_ = 0;
  std::map<std::string, absl::StatusOr<Shared>> files_;  // by reference
  std::map<int, absl::StatusOr<Shared>> shared_files_;   // by index
};

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_MESH_CONVERT_H_
