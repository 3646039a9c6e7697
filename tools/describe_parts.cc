#include "tools/describe_parts.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "sim/contact/friction_law.h"
#include "sim/dynamics/friction_modes.h"
#include "sim/dynamics/integrators.h"
#include "sim/material/material.h"
#include "sim/mesh/mesh_formats.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/shell_spec.h"
#include "sim/solver/linear_solvers.h"

namespace eipc {
namespace {

std::string Row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) absl::StrAppend(&line, " ", absl::StrReplaceAll(cell, {{"|", "\\|"}}), " |");
  return line + "\n";
}

std::string Header(const std::vector<std::string>& names) {
  return Row(names) + Row(std::vector<std::string>(names.size(), "---"));
}

std::string Code(absl::string_view text) { return absl::StrCat("`", text, "`"); }

std::string YesOrEmpty(bool is) { return is ? "yes" : ""; }

std::string MeshFormatTable() {
  std::string out = Header({"format", "extension", "tetrahedra", "triangles", "written", "what is read"});
  for (const MeshFormat& f : MeshFormats()) {
    out += Row({std::string(f.name), Code(f.extension), YesOrEmpty(f.holds_tets), YesOrEmpty(f.holds_triangles),
                YesOrEmpty(f.write != nullptr), std::string(f.variants)});
  }
  return absl::StrCat(out,
                      "\nVertices keep the order of the file. Polygons are split into triangles; points and lines are skipped.\n");
}

template <typename AnyParameter>
std::string ParameterRow(const AnyParameter& p) {
  return Row({Code(p.name), p.unit.empty() ? "–" : std::string(p.unit), p.bounds.Text(), std::string(p.meaning)});
}

std::string MaterialTables() {
  std::string out = Header({"model", "energy density", "parameters"});
  std::vector<MaterialParameter> own;
  for (const MaterialModel material : Materials()) {
    std::vector<std::string> names;
    for (const MaterialParameter& p : material->parameters) {
      names.push_back(Code(p.name));
      bool known = false;
      for (const MaterialParameter& other : own) known = known || (other.name == p.name && other.meaning == p.meaning);
      if (!known) own.push_back(p);
    }
    out += Row({Code(material->name), Code(material->energy), absl::StrJoin(names, ", ")});
  }
  absl::StrAppend(&out, "\n", Header({"parameter", "unit", "must be", "meaning"}));
  for (const MaterialParameter& p : CommonMaterialParameters()) out += ParameterRow(p);
  for (const MaterialParameter& p : own) out += ParameterRow(p);
  return out;
}

std::string FrictionTable() {
  std::string out = Header({"parameter", "unit", "must be", "meaning"});
  for (const FrictionParameter& p : FrictionParameters()) out += ParameterRow(p);
  return absl::StrCat(out, "\nOf a scene (`contact`) or of one pair of bodies (`contact_pairs`).\n");
}

std::string BodyKindTable() {
  std::string out = Header({"kind", "moves", "deforms", "reacts to forces", "what it is"});
  for (const BodyKindRow& row : BodyKinds()) {
    out += Row({Code(row.field), YesOrEmpty(row.traits.moves), YesOrEmpty(row.traits.deforms), YesOrEmpty(row.traits.reacts),
                std::string(row.summary)});
  }
  return out;
}

std::string FrictionModeTable() {
  std::string out = Header({"mode", "lag iterations by default", "normal forces and sliding planes"});
  for (const FrictionModeRow& row : FrictionModes()) {
    out += Row({Code(row.name), row.implicit ? "" : absl::StrCat(row.default_lag_iterations), std::string(row.summary)});
  }
  return out;
}

std::string LinearSolverTable() {
  std::string out = Header({"linear solver", "method"});
  for (const LinearSolverRow& row : LinearSolvers()) out += Row({Code(row.name), std::string(row.summary)});
  return out;
}

std::string IntegratorTable() {
  std::string out = Header({"integrator", "order", "solves", "properties"});
  for (const Scheme& row : Integrators()) {
    out += Row({Code(row.name), absl::StrCat(row.order), absl::StrCat(row.solves()), std::string(row.summary)});
  }
  return out;
}

std::string FabricTable() {
  std::string out =
      Header({"fabric", "density, kg/m^3", "thickness, m", "E, Pa", "of it in the plane", "nu", "strain limit", "what", "source"});
  for (const Fabric& f : Fabrics()) {
    out += Row({Code(f.name), absl::StrCat(f.density_kg_m3), absl::StrCat(f.thickness_m), absl::StrCat(f.youngs_modulus_pa),
                absl::StrCat(f.membrane_share), absl::StrCat(f.poissons_ratio), absl::StrCat(f.strain_limit), std::string(f.what),
                std::string(f.source)});
  }
  return absl::StrCat(
      out,
      "\nBending: `E` times `thickness`^3 / 12 (1 - `nu`^2). In the plane a part of `E` acts, because a mesh wrinkles less finely "
      "than the fabric; the strain limit bounds the stretch.\n");
}

struct Section {
  absl::string_view name;
  absl::string_view heading;
  std::string (*table)();
};
constexpr Section kSections[] = {
    {"bodies", "Bodies (`kind`)", BodyKindTable},
    {"mesh-formats", "Mesh formats", MeshFormatTable},
    {"materials", "Materials (`material`)", MaterialTables},
    {"fabrics", "Fabrics (`shell.fabric`)", FabricTable},
    {"friction", "Friction", FrictionTable},
    {"friction-modes", "Friction modes (`contact.friction_mode`)", FrictionModeTable},
    {"integrators", "Integrators (`solver.integrator`)", IntegratorTable},
    {"linear-solvers", "Linear solvers (`solver.linear_solver`)", LinearSolverTable},
};

std::string Text(const Section& section) { return absl::StrCat("## ", section.heading, "\n\n", section.table()); }

}  // namespace

std::string DescribeParts() {
  std::string out =
      "# What a scene may be made of\n\nMade by `eipc describe`, from the tables that the program itself reads; do not edit.\n";
  for (const Section& section : kSections) absl::StrAppend(&out, "\n", Text(section));
  return out;
}

absl::StatusOr<std::string> DescribePart(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const Section& section : kSections) {
    if (section.name == name) return Text(section);
    names.push_back(section.name);
  }
  return absl::InvalidArgumentError(absl::StrCat("no section '", name, "'; there are ", absl::StrJoin(names, ", ")));
}

}  // namespace eipc
