#ifndef EIPC_MODELS_WIRES_H_
#define EIPC_MODELS_WIRES_H_

// Closed tubes along paths. Only +, -, *, / and sqrt: see shapes.h.

#include <vector>

#include "sim/base/types.h"
#include "sim/mesh/mesh_data.h"

namespace eipc {

// (cos, sin) of k / sides of a turn, k = 0 .. sides - 1. Precondition: sides is a power of two, at least 4.
std::vector<Vec2> UnitCircle(int sides);

// The path with each inner corner replaced by an arc of this radius in 2 straight pieces. Precondition: corners are right angles,
// and legs at least twice as long as the radius.
std::vector<Vec3> RoundCorners(const std::vector<Vec3>& path, double radius);

// Appends a tube of this radius with eight sides and flat ends. Precondition: the path lies in a plane, `normal` is the unit normal
// of that.
void AddTube(const std::vector<Vec3>& path, const Vec3& normal, double radius, MeshData* mesh);

}  // namespace eipc

#endif  // EIPC_MODELS_WIRES_H_
