#ifndef EIPC_SIM_MESHING_CAGE_SHAPER_H_
#define EIPC_SIM_MESHING_CAGE_SHAPER_H_

#include <vector>

#include "sim/base/interrupt.h"
#include "sim/mesh/mesh_data.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/meshing/distance_grid.h"
#include "sim/meshing/enclosure.h"
#include "sim/meshing/triangle_tree.h"

namespace eipc {

// Improves an enclosing cage by moving its vertices one at a time: inward, to fit the surface closely, and wherever the worst
// dihedral angle grows. A move stands only when, by exact predicates, the boundary triangles around the vertex then meet neither
// the surface nor the rest of the boundary, and the tets around it keep their shape. Deterministic.
class CageShaper {
 public:
  // `enclosure`, `tree` and `grid` are the same surface's; all must outlive the shaper. `clearance`: gap that a move leaves to it.
  CageShaper(MeshData cage, const Enclosure& enclosure, const TriangleTree& tree, const DistanceGrid& grid, double clearance);

  // Removes boundary tets that `holds_solid` does not mark, where the boundary stays manifold. Here and below `interrupt` (may be
  // null) ends the work early: the cage is as good as it is by then.
  static MeshData WithoutEmptyTets(const MeshData& cage, const std::vector<bool>& holds_solid, Interrupt* interrupt = nullptr);

  void Shape(int passes, Interrupt* interrupt = nullptr);
  const MeshData& cage() const { return cage_; }

 private:
  struct Star {
    std::vector<int32_t> tets;
    std::vector<int32_t> boundary;
    std::vector<int32_t> neighbours;
  };
  struct Quality {
    double min_deg;
    double max_deg;
    int solid_samples;  // of the tet with the fewest, up to kEnoughSamples
  };
  // Of the worst tet around v, in each respect.
  Quality StarQuality(int32_t v) const;
  bool BoundaryIsFree(int32_t v) const;
  // Moves vertex v to p when allowed; else leaves it.
  bool TryMove(int32_t v, const Vec3& p, const Quality& least);
  int SolidSamples(const Tet& tet) const;
  bool MoveInward(int32_t v);
  bool ImproveShape(int32_t v);

  MeshData cage_;
  std::vector<Triangle> boundary_;
  std::vector<Star> stars_;
  const Enclosure& enclosure_;
  const TriangleTree& tree_;
  const DistanceGrid& grid_;
  double clearance_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_CAGE_SHAPER_H_
