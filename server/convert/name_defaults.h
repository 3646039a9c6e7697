#ifndef EIPC_SERVER_CONVERT_NAME_DEFAULTS_H_
#define EIPC_SERVER_CONVERT_NAME_DEFAULTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/convert/scene_convert.h"
#include "sim/material/material.h"

namespace eipc {

// Which material and which coarse space a body has whose message names none is a matter of the version that reads it. Scenes are
// therefore stored with both named, and those that were stored before that are read as they were then.

// What an unnamed material of a deformable body was before version 0.2.0.
MaterialModel FormerDefaultMaterial();

// Names the material of every body that has one and names none: `deformable` for deformable bodies, the orthogonality potential for
// affine ones. Returns the indices of those bodies.
std::vector<int> NameMaterials(MaterialModel deformable, v1::Scene* scene);

// Names the coarse space of every embedded body that names none: that which the body has in `spec`, which was read of the message.
void NameCoarseSpaces(const SceneSpec& spec, v1::Scene* scene);
// The same for a scene that was stored, maybe before they were named: plain, then. Returns the indices of those bodies.
std::vector<int> NameFormerCoarseSpaces(v1::Scene* scene);

// A scene that was stored, maybe before materials and coarse spaces were named: its specification, and its digest, which is of the
// message as stored. Those of `scene` are named afterwards.
struct StoredSpec {
  SceneSpec spec;
  std::string digest;
};
absl::StatusOr<StoredSpec> SpecOfStored(const MeshResolver& resolver, v1::Scene* scene, Problems* problems);

// The digests that the scene had in builds which did not name coarse spaces, and before version 0.2.0, which did not name
// materials, if it names those that were the default then. By them, snapshots of such scenes are known.
std::vector<std::string> FormerDigests(const SceneSpec& spec, v1::Scene* scene);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_NAME_DEFAULTS_H_
