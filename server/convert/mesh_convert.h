#ifndef EIPC_SERVER_CONVERT_MESH_CONVERT_H_
#define EIPC_SERVER_CONVERT_MESH_CONVERT_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "server/convert/mesh_resolver.h"
#include "sim/mesh/mesh_data.h"

namespace eipc::v1 {
class Mesh;
class MeshArrays;
}  // namespace eipc::v1

namespace eipc {

class Problems;

// Reads the meshes of one scene: from files (each once), inline arrays or inline file contents; scaled.
class MeshReader {
 public:
  explicit MeshReader(const MeshResolver& resolver) : resolver_(resolver) {}

  // An empty mesh when there is a problem with it, which is then added at `path`.
  MeshData Read(const v1::Mesh& mesh, const std::string& path, Problems* problems);

 private:
  absl::StatusOr<MeshData> ReadFile(const std::string& reference);

  const MeshResolver& resolver_;
  std::map<std::string, absl::StatusOr<MeshData>> files_;  // by reference
};

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_MESH_CONVERT_H_
