"""A new material, friction law, body kind, integrator, mesh format and RPC, planted into a copy of the sources that they touch.

Each part is the files that it adds and the texts that it inserts into others. The tests count these files, compare them with
docs/concepts/architecture.md, and build what comes out (planted_parts_test.cc).

  planted_parts.py SOURCE FOLDER [PART...]    writes every touched file, with these parts planted (all), below FOLDER
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Insertion:
    """Text behind the only occurrence of an anchor."""

    def __init__(self, after, text):
        self.after = after
        self.text = text

    def apply(self, content, path):
        if content.count(self.after) != 1:
            raise ValueError(f"{path}: {content.count(self.after)} places match {self.after!r}; the example must follow the sources")
        return content.replace(self.after, self.after + self.text)


# By part: path of each file -> the name of a file in tests/parts/new, or what is inserted.
PARTS = {
    "material": {
        "sim/material/planted_spring.h": "planted_spring.h",
        "sim/material/planted_spring.cc": "planted_spring.cc",
        "sim/material/CMakeLists.txt": [Insertion("    mooney_rivlin.cc\n", "    planted_spring.cc\n")],
        "sim/material/material.h": [
            Insertion('#include "sim/material/mooney_rivlin.h"\n', '#include "sim/material/planted_spring.h"\n'),
            Insertion("MooneyRivlin, AbdOrthogonality", ", PlantedSpring"),
            Insertion("  double mooney_second_share = 0;\n", "  double planted_stiffness_pa = 0;\n"),
        ],
        "proto/eipc/v1/scene.proto": [
            Insertion("    ABD_ORTHOGONALITY = 7;\n", "    PLANTED_SPRING = 8;\n"),
            Insertion("  double mooney_second_share = 7;\n", "  double planted_stiffness_pa = 8;\n"),
        ],
    },
    "friction law": {
        "sim/contact/friction_law.h": [
            Insertion("taken as at least eps\n", "  double planted_drag_s2_m2 = 0;\n"),
            Insertion("viscous_s_m;            // default 0\n", "  std::optional<double> planted_drag_s2_m2;\n"),
        ],
        "sim/contact/friction_law.cc": [
            Insertion("&FrictionSpec::viscous_s_m, Bounds::NotNegative()},\n",
                      '    {"planted_drag_s2_m2", "s^2/m^2", "coefficient per speed squared", &FrictionSpec::planted_drag_s2_m2,\n'
                      "     Bounds::NotNegative()},\n"),
            Insertion("stribeck > 0 ? stribeck : kStribeckOverFrictionVelocity * friction_velocity_m_s",
                      ", spec.planted_drag_s2_m2.value_or(0)"),
        ],
        "sim/energy/friction_curve.h": [Insertion("  double viscous_ = 0;   // 1/m\n", "  double drag_ = 0;      // 1/m^2\n")],
        "sim/energy/friction_curve.cc": [
            Insertion("viscous_(law.viscous_s_m / (law.dynamic_coefficient * gamma_h))",
                      ",\n      drag_(law.planted_drag_s2_m2 / (law.dynamic_coefficient * gamma_h * gamma_h))"),
            Insertion("return sum + 0.5 * viscous_ * y * y", " + drag_ * y * y * y / 3"),
            Insertion("sum += extra_ * Bump(y / stribeck_) * smooth;\n  return sum + viscous_", " + drag_ * y"),
            Insertion("y * FrictionF1OverY(y, epsilon_));\n  }\n  return sum + viscous_", " + 2 * drag_ * y"),
        ],
        "proto/eipc/v1/scene.proto": [
            Insertion("\n  double viscous_friction_s_m = 13;\n", "  double planted_drag_s2_m2 = 14;\n"),
            Insertion("  optional double viscous_friction_s_m = 7;\n", "  optional double planted_drag_s2_m2 = 8;\n"),
        ],
    },
    "body kind": {
        "sim/scene/compile_planted.cc": "compile_planted.cc",
        "sim/scene/body_kinds.h": [
            Insertion("kAffine, kKinematic, kStatic", ", kPlanted"),
            Insertion("void CompileStatic(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems);\n",
                      "void CompilePlanted(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems);\n"),
        ],
        "sim/scene/body_kinds.cc": [
            Insertion("     .compile = CompileStatic},\n",
                      "    {.kind = BodyKind::kPlanted,\n"
                      '     .name = "planted",\n'
                      '     .field = "planted",\n'
                      '     .mesh_field = "extent",\n'
                      '     .summary = "a corner as large as its mesh",\n'
                      "     .traits = {.moves = false, .deforms = false, .reacts = false},\n"
                      "     .default_material = kDefaultMaterial,\n"
                      "     .compile = CompilePlanted},\n"),
        ],
        "sim/scene/CMakeLists.txt": [Insertion("compile_kinematic.cc\n", "  compile_planted.cc\n")],
        "proto/eipc/v1/scene.proto": [
            Insertion("message StaticBody {\n  Mesh surface = 1;\n}\n", "message PlantedBody {\n  Mesh extent = 1;\n}\n"),
            Insertion("    StaticBody static_body = 6;\n", "    PlantedBody planted = 7;\n"),
        ],
    },
    "integrator": {
        "sim/dynamics/integrators.cc": [
            Insertion("     .stable_angle = 2.36,\n     .kept_gap = 0.1},\n",
                      "    {.kind = IntegratorKind::kPlantedTheta,\n"
                      '     .name = "PLANTED_THETA",\n'
                      '     .summary = "A-stable; damps a little",\n'
                      "     .row_count = 2,\n"
                      "     .rows = {kStart, {.from = {.speeds = {0.4}, .forces = {0.4}}, .a = 0.6, .b = 0.6, .end = 1}}},\n"),
        ],
        "sim/dynamics/dynamics_settings.h": [Insertion("  kRungeKutta4,\n", "  kPlantedTheta,\n")],
        "proto/eipc/v1/scene.proto": [Insertion("    RUNGE_KUTTA_4 = 10;  // explicit, fourth order\n", "    PLANTED_THETA = 11;\n")],
    },
    "mesh format": {
        "sim/mesh/read_planted.cc": "read_planted.cc",
        "sim/mesh/CMakeLists.txt": [Insertion("read_off.cc ", "read_planted.cc ")],
        "sim/mesh/mesh_readers.h": [
            Insertion("absl::StatusOr<MeshData> ReadObj(absl::string_view text, const std::string& file, MemoryMeter* meter = nullptr);\n",
                      "absl::StatusOr<MeshData> ReadPlanted(absl::string_view text, const std::string& file, MemoryMeter* meter = nullptr);\n"),
        ],
        "sim/mesh/mesh_formats.cc": [
            Insertion("constexpr MeshFormat kFormats[] = {\n",
                      '    {"Planted", ".planted", "a triangle", false, true, ReadPlanted, nullptr},\n'),
        ],
    },
    "RPC": {
        "server/rpc/handlers/planted_call.cc": "planted_call.cc",
        "server/rpc/handlers/CMakeLists.txt": [Insertion("method_table.cc operation_info.cc", " planted_call.cc")],
        "server/rpc/handlers/calls.h": [
            Insertion("absl::Status GetServerInfo(Services&, const CallContext&, const v1::GetServerInfoRequest&, v1::ServerInfo*);\n",
                      "absl::Status Planted(Services&, const CallContext&, const v1::GetSceneRequest&, v1::SceneInfo*);\n"),
        ],
        "server/rpc/handlers/method_table.cc": [
            Insertion('    Unary<GetServerInfo>("GetServerInfo", kRead),\n',
                      '    Unary<Planted>("Planted", kWrite, {"plant", kResponse, "name"}),\n'),
        ],
        "proto/eipc/v1/service.proto": [
            Insertion("  rpc GetServerInfo(GetServerInfoRequest) returns (ServerInfo);\n",
                      "  rpc Planted(GetSceneRequest) returns (SceneInfo);\n"),
        ],
    },
}


def planted(source, parts=PARTS):
    """Content of every touched file with these parts planted, by path."""
    contents = {}
    for part in parts:
        for path, change in PARTS[part].items():
            if isinstance(change, str):
                contents[path] = (HERE / "new" / change).read_text()
                continue
            content = contents.get(path) or (source / path).read_text()
            for insertion in change:
                content = insertion.apply(content, path)
            contents[path] = content
    return contents


def main():
    source, folder = map(pathlib.Path, sys.argv[1:3])
    for path, content in planted(source, sys.argv[3:] or PARTS).items():
        out = folder / path
        out.parent.mkdir(parents=True, exist_ok=True)
        if not out.exists() or out.read_text() != content:
            out.write_text(content)


if __name__ == "__main__":
    main()
