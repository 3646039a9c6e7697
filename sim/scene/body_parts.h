#ifndef EIPC_SIM_SCENE_BODY_PARTS_H_
#define EIPC_SIM_SCENE_BODY_PARTS_H_

// What the compilers of the kinds of bodies share: reading meshes, placing them, mass and elements.

#include <optional>
#include <string>
#include <vector>

#include "sim/mesh/cage_integrals.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/scene/compile_body.h"

namespace eipc {

// The boundary of a tetrahedral mesh as a surface of its own; `nodes` names the mesh vertex of each surface vertex.
MeshData BoundaryOf(const TetMesh& mesh, std::vector<int32_t>* nodes);

// Nothing when the mesh cannot be used; why is added to `problems`.
std::optional<TetMesh> ReadTets(const MeshData& data, const std::string& path, Problems* problems,
                                std::vector<int32_t>* node_of_vertex = nullptr);
std::optional<SurfaceMesh> ReadSurface(const BodySpec& spec, const std::string& path, Problems* problems);
// Adds a problem where the surface bounds no solid.
bool BoundsSolid(const SurfaceMesh& surface, const std::string& path, Problems* problems);

void Place(const std::vector<Vec3>& authored, const Pose& pose, std::vector<Vec3>* world);
// Positions, triangles, mass and body frame. The embedding is for the kind to set.
void PlaceSurface(const SurfaceMesh& surface, const BodySpec& spec, CompiledBody* out);
// The nodes of a cage, and how the surface in it follows them. False: a problem was added.
bool Embed(const TetMesh& cage, const SurfaceMesh& surface, const BodySpec& spec, const std::string& path, CompiledBody* out,
           Problems* problems);
// Mass matrix and elastic elements of placed nodes.
void AddElements(const TetMesh& mesh, const CageIntegrals& integrals, const MaterialSpec& material, CompiledBody* out);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_BODY_PARTS_H_
