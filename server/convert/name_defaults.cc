#include "server/convert/name_defaults.h"

#include <string>
#include <vector>

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

// Bodies whose message named neither.
struct UnnamedBodies {
  std::vector<int> materials, coarse_spaces;
};

// The digest of the scene if these bodies named nothing; they name it again afterwards.
std::string DigestUnnamed(const UnnamedBodies& unnamed, const SceneSpec& spec, v1::Scene* scene) {
  for (const int i : unnamed.materials) scene->mutable_bodies(i)->mutable_material()->clear_model();
  for (const int i : unnamed.coarse_spaces) scene->mutable_bodies(i)->mutable_embedded()->clear_coarse_space();
  std::string digest = SceneDigest(*scene, spec);
  NameMaterials(FormerDefaultMaterial(), scene);
  NameFormerCoarseSpaces(scene);
  return digest;
}

// Embedded bodies that are plain, which was the default.
std::vector<int> FormerlyUnnamedSpaces(const v1::Scene& scene) {
  std::vector<int> plain;
  for (int i = 0; i < scene.bodies_size(); ++i) {
    const v1::Body& body = scene.bodies(i);
    if (body.has_embedded() && body.embedded().coarse_space() == v1::EmbeddedBody::PLAIN) plain.push_back(i);
  }
  return plain;
}

// Bodies whose material was the default before version 0.2.0; nothing when one has another or is condensed, which it could not be.
std::vector<int> FormerlyUnnamedMaterials(const v1::Scene& scene) {
  std::vector<int> former;
  for (int i = 0; i < scene.bodies_size(); ++i) {
    const v1::Body& body = scene.bodies(i);
    const v1::Material::Model model = Unnamed(body, FormerDefaultMaterial());
    if (model == v1::Material::MODEL_UNSPECIFIED || !body.has_material()) continue;
    if (body.material().model() != model || body.embedded().coarse_space() == v1::EmbeddedBody::CONDENSED) return {};
    former.push_back(i);
  }
  return former;
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

void NameCoarseSpaces(const SceneSpec& spec, v1::Scene* scene) {
  for (int i = 0; i < scene->bodies_size() && i < static_cast<int>(spec.bodies.size()); ++i) {
    if (!scene->bodies(i).has_embedded()) continue;
    const bool condensed = spec.bodies[static_cast<size_t>(i)].coarse_space == CoarseSpace::kCondensed;
    scene->mutable_bodies(i)->mutable_embedded()->set_coarse_space(condensed ? v1::EmbeddedBody::CONDENSED
                                                                             : v1::EmbeddedBody::PLAIN);
  }
}

std::vector<int> NameFormerCoarseSpaces(v1::Scene* scene) {
  std::vector<int> named;
  for (int i = 0; i < scene->bodies_size(); ++i) {
    if (!scene->bodies(i).has_embedded()) continue;
    if (scene->bodies(i).embedded().coarse_space() != v1::EmbeddedBody::COARSE_SPACE_UNSPECIFIED) continue;
    scene->mutable_bodies(i)->mutable_embedded()->set_coarse_space(v1::EmbeddedBody::PLAIN);
    named.push_back(i);
  }
  return named;
}

absl::StatusOr<StoredSpec> SpecOfStored(const MeshResolver& resolver, v1::Scene* scene, Problems* problems) {
  const UnnamedBodies unnamed = {NameMaterials(FormerDefaultMaterial(), scene), NameFormerCoarseSpaces(scene)};
  StoredSpec out;
  EIPC_ASSIGN_OR_RETURN(out.spec, SceneFromProto(*scene, resolver, problems));
  out.digest = DigestUnnamed(unnamed, out.spec, scene);
  return out;
}

std::vector<std::string> FormerDigests(const SceneSpec& spec, v1::Scene* scene) {
  const UnnamedBodies former = {FormerlyUnnamedMaterials(*scene), FormerlyUnnamedSpaces(*scene)};
  std::vector<std::string> digests;
  if (!former.coarse_spaces.empty()) digests.push_back(DigestUnnamed({{}, former.coarse_spaces}, spec, scene));
  if (!former.materials.empty()) digests.push_back(DigestUnnamed(former, spec, scene));
  return digests;
}

}  // namespace eipc
