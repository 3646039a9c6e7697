#ifndef EIPC_MODELS_CELLS_H_
#define EIPC_MODELS_CELLS_H_

// Tetrahedra of the cells of a grid.

#include <array>
#include <cstdint>

#include "sim/mesh/mesh_data.h"

namespace eipc {

// Appends the five tetrahedra of a cell whose corner b lies at the far end of axis d where bit d of b is set. Neighbours are mirror
// images, so that the diagonals of their common face agree: `even` is whether the sum of the cell's three indices is.
void AddCell(const std::array<int32_t, 8>& corner, bool even, MeshData* mesh);

}  // namespace eipc

#endif  // EIPC_MODELS_CELLS_H_
