#ifndef EIPC_SIM_ROBOT_MESH_LOCATION_H_
#define EIPC_SIM_ROBOT_MESH_LOCATION_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace eipc {

// Where packages of robot descriptions are, by their names.
using PackageFolders = std::map<std::string, std::string>;

// The file that a description in the file `description` means by `reference`: a path (relative to the description's folder),
// "file://PATH", "package://NAME/PATH" or "model://NAME/PATH". A package that `packages` lacks is searched for above the
// description: a folder of that name, or one that holds such a folder. NOT_FOUND, or INVALID_ARGUMENT for another scheme.
absl::StatusOr<std::string> FindMeshFile(const std::string& reference, const std::string& description,
                                         const PackageFolders& packages);

// The same of another description that one includes: a file, or the folder of a model ("model://NAME").
absl::StatusOr<std::string> FindIncluded(const std::string& reference, const std::string& description,
                                         const PackageFolders& packages);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_MESH_LOCATION_H_
