#ifndef EIPC_SERVER_CONVERT_SHARE_CONTENTS_H_
#define EIPC_SERVER_CONVERT_SHARE_CONTENTS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace eipc::v1 {
class Scene;
}  // namespace eipc::v1

namespace eipc {

class MemoryMeter;

// A mesh file that is kept elsewhere; `keeper` holds it.
struct KeptFile {
  std::shared_ptr<const void> keeper;
  absl::string_view file_name;
  absl::string_view data;
};
// The file behind a reference; nullopt for one that names no kept file.
using FindKeptFile = std::function<absl::StatusOr<std::optional<KeptFile>>(const std::string& reference)>;

// Makes a scene hold every kept file that its meshes name, and every file's bytes once: what several meshes have goes to its
// shared_files, what one mesh has alone to that mesh. Scenes of the same content are the same message after that, however their
// meshes were given. `meter` (may be null) is asked before anything is copied. The errors of `find`, with the path of the mesh.
absl::Status ShareContents(const FindKeptFile& find, MemoryMeter* meter, v1::Scene* scene);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_SHARE_CONTENTS_H_
