#ifndef EIPC_SERVER_CONVERT_MESH_RESOLVER_H_
#define EIPC_SERVER_CONVERT_MESH_RESOLVER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace eipc {

// Where the files that a scene names lie: "PATH" relative to the scene's folder, "data:PATH" relative to the data folder.
class MeshResolver {
 public:
  struct Options {
    std::string scene_folder;  // empty: no files but data
    std::string data_folder;   // empty: no data
    // Refuse absolute paths, and whatever lies outside the two folders, links followed. For references that come over the network.
    bool confine = true;
  };

  explicit MeshResolver(Options options) : options_(std::move(options)) {}

  // What the command line uses: the folder of `scene_path`, no confinement.
  static MeshResolver ForLocalScene(const std::string& scene_path, const std::string& data_folder);

  // A path to open. INVALID_ARGUMENT says why not; nothing is said about what lies outside the folders.
  absl::StatusOr<std::string> Resolve(const std::string& reference) const;

 private:
  Options options_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_MESH_RESOLVER_H_
