#ifndef EIPC_SIM_SCENE_COMPILE_BODY_H_
#define EIPC_SIM_SCENE_COMPILE_BODY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/dynamics/model.h"
#include "sim/mesh/mass_properties.h"
#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// One body on its own, indices local to it, positions in the world.
struct CompiledBody {
  // Polled while the body is compiled; may be null.
  Interrupt* interrupt = nullptr;
  std::vector<Vec3> node_positions;  // world
  std::vector<Vec3> node_authored;   // mesh frame: boxes select there
  // Full-space and embedded bodies: the node of each vertex of the tetrahedral (cage) mesh, -1 for one that no tetrahedron uses.
  std::vector<int32_t> node_of_vertex;
  std::vector<ScalarSparse::Entry> mass_entries;
  ElasticBody elastic;    // no nodes for what does not react
  MaterialSpec material;  // of its elements
  // Shells only: their elements without bending, which depends on what is driven; the shape without stress.
  std::optional<ShellBody> shell;
  std::vector<Vec3> stress_free;        // by node, mesh frame
  std::vector<Vec3> surface_positions;  // world
  std::vector<Triangle> triangles;
  std::vector<EmbeddingRow> embedding;
  MassProperties mass;  // world
  Pose initial_pose;    // of the body frame
  // What the cage's material was changed by (no other kind of body).
  std::optional<CageCalibration> calibration;
};

// By its kind (body_kinds.h). Adds what is wrong to `problems` under `path`; the result is to be used only when nothing was added.
// `condensed`: of a body with the same stiffness, which is then not made again; null: made where it is needed. Once `interrupt`
// (may be null), which ends it early, is raised, neither the result nor what was added to `problems` is to be used.
CompiledBody CompileBody(const BodySpec& spec, const std::string& path, Problems* problems,
                         std::shared_ptr<const CondensedStiffness> condensed = nullptr, Interrupt* interrupt = nullptr);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_COMPILE_BODY_H_
