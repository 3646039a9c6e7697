#include "server/convert/scene_digest.h"

#include "absl/strings/escaping.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/hash_stream.h"

namespace eipc {
namespace {

void AddMesh(const MeshData& mesh, Sha256* hash) {
  hash->AddAll(mesh.vertices);
  hash->AddAll(mesh.tets);
  hash->AddAll(mesh.triangles);
}

}  // namespace

std::string SceneDigest(const v1::Scene& scene, const SceneSpec& spec) {
  Sha256 hash;
  const uint64_t size = scene.ByteSizeLong();
  hash.Add(&size, sizeof(size));
  AddMessage(scene, &hash);
  // Files may change under the same name.
  for (const BodySpec& body : spec.bodies) {
    AddMesh(body.mesh, &hash);
    if (body.cage) AddMesh(*body.cage, &hash);
    if (body.shell.rest_mesh) AddMesh(*body.shell.rest_mesh, &hash);
  }
  return absl::BytesToHexString(hash.Finish().substr(0, 16));
}

}  // namespace eipc
