#ifndef EIPC_MODELS_FINRAY_H_
#define EIPC_MODELS_FINRAY_H_

// A FinRay finger: two strips that meet at the tip, joined by ribs with cut-outs between them. Pressed in the middle, the strip
// bends around what presses, and the tip moves towards it, because the ribs keep the strips apart and let them slide along each
// other (Crooks et al. 2016).

#include "sim/mesh/mesh_data.h"

namespace eipc {

// Cells of the mesh; each becomes five tetrahedra.
struct FinRayCells {
  int strip = 1;    // across a strip
  int opening = 6;  // along a strip, between two ribs
  int rib = 1;      // across a rib
  int ribs = 5;     // along a rib
  int width = 1;    // of the finger
  int base = 1;     // along the block at the base
};

// The finger points along -z from its base at z = 0 to its tip at z = -0.1 m, is 0.02 m wide (y), and presses with the strip on its
// +x side, which leans forward from x = -0.012 m at the base to x = 0 at the tip; the other strip is 0.038 m behind it at the base
// and 0.009 m at the tip. Strips are 3 mm thick, four ribs 2 mm. Finer cells mesh the same solid.
MeshData FinRayFinger(const FinRayCells& cells);

}  // namespace eipc

#endif  // EIPC_MODELS_FINRAY_H_
