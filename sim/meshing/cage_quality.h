#ifndef EIPC_SIM_MESHING_CAGE_QUALITY_H_
#define EIPC_SIM_MESHING_CAGE_QUALITY_H_

#include <vector>

#include "sim/mesh/mesh_data.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {

// How good a cage is for the solid inside a surface.
struct CageQuality {
  double min_dihedral_deg = 0, max_dihedral_deg = 0;
  bool enclosed = false;         // exact: no part of the surface leaves the cage
  int components = 0;            // of the cage, joined by faces
  int solid_components = 0;      // of the surface, cavities not counted
  double volume_ratio = 0;       // cage's volume over the solid's
  double least_solid_share = 0;  // of the tet that the solid fills least
  int shared_gap_tets = 0;       // in which both sides of a gap lie (sampled; cage_gaps.h)
  // Largest of the relative errors of volume, centre of mass (over the size) and inertia, integrated over the cage, against the
  // surface's closed forms.
  double mass_properties_error = 0;
};
CageQuality MeasureCage(const TetMesh& cage, const SurfaceMesh& surface);

// Number of pieces of a triangle mesh that share no vertex.
int CountComponents(size_t vertices, const std::vector<Triangle>& triangles);
// The same of tetrahedra.
int CountComponents(size_t vertices, const std::vector<Tet>& tets);
// Pieces of a solid, of its tetrahedra or, where there are none, of its triangles, cavities not counted. Cells with indices out of
// range are passed over.
int CountSolidPieces(const MeshData& solid);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_CAGE_QUALITY_H_
