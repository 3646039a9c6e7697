#ifndef EIPC_MODELS_RODS_H_
#define EIPC_MODELS_RODS_H_

// A rod of models/scenes/rods_twist.textproto.

#include "sim/mesh/mesh_data.h"

namespace eipc {

inline constexpr double kRodLength = 0.16;  // m
inline constexpr double kRodSide = 0.02;    // of its square section, m

// Cells of the mesh; each becomes five tetrahedra.
struct RodCells {
  int across = 3;  // over each side of the section
  int along = 16;
};

// A straight rod around the x axis, from x = -kRodLength / 2 to kRodLength / 2. Finer cells mesh the same solid.
MeshData Rod(const RodCells& cells);

}  // namespace eipc

#endif  // EIPC_MODELS_RODS_H_
