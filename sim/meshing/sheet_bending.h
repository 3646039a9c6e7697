#ifndef EIPC_SIM_MESHING_SHEET_BENDING_H_
#define EIPC_SIM_MESHING_SHEET_BENDING_H_

#include <vector>

#include "sim/base/types.h"

namespace eipc {

// How a mesh of triangles bends as a shell of bending form PLATE (docs/concepts/theory.md).
struct SheetBending {
  // Bending energy of the mesh over that of plate theory with a Poisson's ratio of 0.3, both summed over all directions of constant
  // curvature: 1 on equilateral triangles and on grids that are all cut along the same diagonal, 1.48 where diagonals alternate.
  double stiffness_ratio = 1;
  // Share of the area whose triangles are off by more than a tenth.
  double wrong_share = 0;
};

// Of the triangles that have a neighbour at each edge, by area; each is compared with its neighbours turned into its plane, so that
// the rest shape may be curved. Every edge must have at most two triangles.
SheetBending MeasureBending(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_SHEET_BENDING_H_
