#include "sim/scene/body_kinds.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "sim/scene/scene_spec.h"

namespace eipc {
namespace {

constexpr BodyKindRow kRows[] = {
    {.kind = BodyKind::kFullSpace,
     .name = "full_space",
     .field = "full_space",
     .mesh_field = "mesh",
     .summary = "each vertex of its tetrahedral mesh moves",
     .traits = {.moves = true, .deforms = true, .reacts = true},
     .default_material = kDefaultMaterial,
     .compile = CompileFullSpace},
    {.kind = BodyKind::kEmbedded,
     .name = "embedded",
     .field = "embedded",
     .mesh_field = "surface",
     .summary = "a coarse tetrahedral cage moves, and the surface in it follows",
     .traits = {.moves = true, .deforms = true, .reacts = true},
     .default_material = kDefaultMaterial,
     .compile = CompileEmbedded,
     .check = CheckEmbedded,
     .has_cage = true},
    {.kind = BodyKind::kAffine,
     .name = "affine",
     .field = "affine",
     .mesh_field = "surface",
     .summary = "12 coordinates: one tetrahedron around it moves, stiffly",
     .traits = {.moves = true, .deforms = false, .reacts = true},
     .default_material = &AbdOrthogonality::kDescriptor,
     .compile = CompileAffine,
     .check = CheckAffine},
    {.kind = BodyKind::kKinematic,
     .name = "kinematic",
     .field = "kinematic",
     .mesh_field = "surface",
     .summary = "it follows its trajectory or its targets",
     .traits = {.moves = true, .deforms = false, .reacts = false},
     .default_material = kDefaultMaterial,
     .compile = CompileKinematic},
    {.kind = BodyKind::kStatic,
     .name = "static",
     .field = "static_body",
     .mesh_field = "surface",
     .summary = "it stays where it is placed",
     .traits = {.moves = false, .deforms = false, .reacts = false},
     .default_material = kDefaultMaterial,
     .compile = CompileStatic},
    {.kind = BodyKind::kShell,
     .name = "shell",
     .field = "shell",
     .mesh_field = "mesh",
     .summary = "cloth or a thin wall: each vertex of its triangle mesh moves, and both sides keep its thickness apart",
     .traits = {.moves = true, .deforms = true, .reacts = true, .thin = true},
     .default_material = kDefaultMaterial,
     .compile = CompileShell,
     .check = CheckShell,
     .checks_material = true},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].kind != static_cast<BodyKind>(i)) return false;
  }
  return true;
}
static_assert(InOrder(), "the rows are in the order of BodyKind");

}  // namespace

absl::Span<const BodyKindRow> BodyKinds() { return kRows; }

const BodyKindRow& RowOf(BodyKind kind) { return kRows[static_cast<size_t>(kind)]; }

const BodyKindRow* FindBodyKind(absl::string_view field) {
  for (const BodyKindRow& row : kRows) {
    if (row.field == field) return &row;
  }
  return nullptr;
}

std::string KindsWith(bool BodyTraits::*trait, bool has) {
  std::vector<std::string> names;
  for (const BodyKindRow& row : kRows) {
    if (row.traits.*trait == has) names.push_back(absl::StrReplaceAll(row.name, {{"_", "-"}}));
  }
  return absl::StrJoin(names, " or ");
}

std::string MeshPath(const BodySpec& spec, const std::string& path) {
  const BodyKindRow& row = RowOf(spec.kind);
  return absl::StrCat(path, ".", row.field, ".", row.mesh_field);
}

}  // namespace eipc
