#ifndef EIPC_SIM_ROBOT_SHAPE_MESH_H_
#define EIPC_SIM_ROBOT_SHAPE_MESH_H_

#include "absl/status/statusor.h"
#include "sim/mesh/mesh_data.h"
#include "sim/robot/robot.h"

namespace eipc {

// The closed triangle mesh of a collision shape, in the shape's frame, m. Round ones are inscribed in theirs: spheres and
// ellipsoids with 162 vertices, cylinders and capsules with 32 sides. Of a mesh file: its triangles, or the boundary of its
// tetrahedra, scaled. What is wrong with the file, as a status.
absl::StatusOr<MeshData> ShapeMesh(const CollisionShape& shape);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_SHAPE_MESH_H_
