#ifndef EIPC_SIM_SCENE_BODY_KINDS_H_
#define EIPC_SIM_SCENE_BODY_KINDS_H_

// The kinds of bodies, all in one table: what a body of a kind can do, how a scene names it, and how it is compiled, that is, what
// its generalized coordinates are and how its surface follows them (docs/concepts/theory.md, section 1). Scene checks, conversion
// from messages and `eipc describe` follow from the table; the step knows only the traits.

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/dynamics/model.h"
#include "sim/material/material.h"
#include "sim/scene/problems.h"

namespace eipc {

struct BodySpec;
struct CompiledBody;

enum class BodyKind { kFullSpace, kEmbedded, kAffine, kKinematic, kStatic, kShell };

struct BodyKindRow {
  BodyKind kind;
  absl::string_view name;        // in reports
  absl::string_view field;       // of its message in a scene's Body
  absl::string_view mesh_field;  // of the mesh in that message
  absl::string_view summary;
  BodyTraits traits;
  MaterialModel default_material;
  // Adds what is wrong to `problems`; `path` is the body's.
  void (*compile)(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems);
  // What only this kind has, before anything is compiled. May be null.
  void (*check)(const BodySpec& spec, const std::string& path, Problems* problems) = nullptr;
  // `check` examines the material too: the kind needs only some of its numbers.
  bool checks_material = false;
  // A cage moves it, which may have to be made (BodySpec::cage, cage_vertices).
  bool has_cage = false;
};

// In the order of BodyKind.
absl::Span<const BodyKindRow> BodyKinds();
const BodyKindRow& RowOf(BodyKind kind);
// nullptr: the scene message has no such kind.
const BodyKindRow* FindBodyKind(absl::string_view field);
// Names of the kinds that have a trait, or have it not, as a sentence lists them: "kinematic or static".
std::string KindsWith(bool BodyTraits::*trait, bool has);
// Where the scene has the mesh of a body: "bodies[2].embedded.surface".
std::string MeshPath(const BodySpec& spec, const std::string& path);

void CompileFullSpace(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems);
void CompileEmbedded(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems);
void CheckEmbedded(const BodySpec& spec, const std::string& path, Problems* problems);
void CheckAffine(const BodySpec& spec, const std::string& path, Problems* problems);
void CompileAffine(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems);
void CompileKinematic(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems);
void CompileStatic(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems);
void CompileShell(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems);
void CheckShell(const BodySpec& spec, const std::string& path, Problems* problems);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_BODY_KINDS_H_
