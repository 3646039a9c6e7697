#ifndef EIPC_SIM_MESHING_LATTICE_H_
#define EIPC_SIM_MESHING_LATTICE_H_

#include "sim/base/interrupt.h"
#include "sim/base/types.h"
#include "sim/mesh/mesh_data.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {

// The tets of a body-centred cubic lattice (cells of edge `cell`, one corner at `origin`) that reach the solid bounded by the
// tree's mesh, within the box low..high around it. Dihedral angles 60 and 90 degrees. Tets left out keep a distance from the solid.
// `interrupt` (may be null) ends it early; tets are then missing.
MeshData LatticeAround(const TriangleTree& solid, const Vec3& low, const Vec3& high, const Vec3& origin, double cell,
                       Interrupt* interrupt = nullptr);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_LATTICE_H_
