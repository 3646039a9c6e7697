#ifndef EIPC_SIM_MESHING_STATIC_STIFFNESS_H_
#define EIPC_SIM_MESHING_STATIC_STIFFNESS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sim/mesh/condensed_stiffness.h"
#include "sim/mesh/embedding.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/meshing/fine_model.h"

namespace eipc {

// Forces on the vertices of a surface, N. In sum without force and moment.
using SurfaceLoad = std::vector<Vec3>;

// A body embedded in linear tets weighted by the solid inside them, under static loads in linear elasticity.
class StaticBody {
 public:
  // INVALID_ARGUMENT when the cage does not enclose the surface. `interrupt`, which ends this and what is below with its status,
  // may be null.
  static absl::StatusOr<StaticBody> Create(const TetMesh& cage, const SurfaceMesh& surface, Interrupt* interrupt = nullptr);

  // Compliances f . u of the loads with Young's modulus 1 and `poissons_ratio`, m/N times Pa. INTERNAL when the stiffness cannot be
  // factored.
  absl::StatusOr<std::vector<double>> Compliances(const std::vector<SurfaceLoad>& loads, double poissons_ratio,
                                                  Interrupt* interrupt = nullptr) const;

 private:
  FineModel model_;
  std::vector<EmbeddingRow> embedding_;
};

// Compliances f . u, m N, of loads on a surface that follows the vertices of a condensed cage (`embedding`), with the moduli that
// it was condensed with. INTERNAL when the stiffness cannot be factored.
absl::StatusOr<std::vector<double>> CondensedCompliances(const CondensedStiffness& condensed, const Embedding& embedding,
                                                         const std::vector<SurfaceLoad>& loads);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_STATIC_STIFFNESS_H_
