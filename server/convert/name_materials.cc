#include "server/convert/name_materials.h"

#include <string>

#include "eipc/v1/scene.pb.h"
#include "server/convert/scene_digest.h"
#include "sim/base/status_macros.h"
#include "sim/scene/body_kinds.h"

namespace eipc {
namespace {

v1::Material::Model ModelNamed(MaterialModel model) {
  v1::Material::Model value = v1::Material::MODEL_UNSPECIFIED;
  (void)v1::Material::Model_Parse(std::string(model->name), &value);
  return value;
}

// The material of such a body where its message names none; MODEL_UNSPECIFIED: it has none.
v1::Material::Model Unnamed(const v1::Body& body, MaterialModel deformable) {
  const BodyKindRow* row = KindOf(body);
  if (row == nullptr || !row->traits.reacts || row->traits.thin) return v1::Material::MODEL_UNSPECIFIED;
  return ModelNamed(row->traits.deforms ? deformable : row->default_material);
}

// The digest of the scene if these bodies named no model, which they name again afterwards.
std::string DigestUnnamed(const std::vector<int>& bodies, const SceneSpec& spec, v1::Scene* scene) {
  for (const int i : bodies) scene->mutable_bodies(i)->mutable_material()->clear_model();
  std::string digest = SceneDigest(*scene, spec);
  NameMaterials(FormerDefaultMaterial(), scene);
  return digest;
}

}  // namespace

MaterialModel FormerDefaultMaterial() { return &LinearCorotated::kDescriptor; }

std::vector<int> NameMaterials(MaterialModel deformable, v1::Scene* scene) {
  std::vector<int> named;
  for (int i = 0; i < scene->bodies_size(); ++i) {
    const v1::Body& body = scene->bodies(i);
    const v1::Material::Model model = Unnamed(body, deformable);
    if (model == v1::Material::MODEL_UNSPECIFIED || body.material().model() != v1::Material::MODEL_UNSPECIFIED) continue;
    // A body without any material has problems that are reported where it is read.
    if (!body.has_material()) continue;
    scene->mutable_bodies(i)->mutable_material()->set_model(model);
    named.push_back(i);
  }
  return named;
}

absl::StatusOr<StoredSpec> SpecOfStored(const MeshResolver& resolver, v1::Scene* scene, Problems* problems) {
  const std::vector<int> named = NameMaterials(FormerDefaultMaterial(), scene);
  StoredSpec out;
  EIPC_ASSIGN_OR_RETURN(out.spec, SceneFromProto(*scene, resolver, problems));
  out.digest = DigestUnnamed(named, out.spec, scene);
  return out;
}

std::string FormerDigest(const SceneSpec& spec, v1::Scene* scene) {
  std::vector<int> former;
  for (int i = 0; i < scene->bodies_size(); ++i) {
    const v1::Material::Model model = Unnamed(scene->bodies(i), FormerDefaultMaterial());
    if (model == v1::Material::MODEL_UNSPECIFIED || !scene->bodies(i).has_material()) continue;
    if (scene->bodies(i).material().model() != model) return "";
    former.push_back(i);
  }
  return former.empty() ? "" : DigestUnnamed(former, spec, scene);
}

}  // namespace eipc
