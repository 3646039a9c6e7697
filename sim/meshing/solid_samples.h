#ifndef EIPC_SIM_MESHING_SOLID_SAMPLES_H_
#define EIPC_SIM_MESHING_SOLID_SAMPLES_H_

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/mesh/tet_mesh.h"
#include "sim/meshing/fine_model.h"

namespace eipc {

// A tetrahedral mesh in which points are found. The mesh must outlive it.
struct Located {
  const TetMesh* mesh;
  std::vector<Mat3> inverse;  // of the edges from vertex 0

  explicit Located(const TetMesh* of);
  // Barycentric coordinates of p in a tetrahedron.
  Eigen::Vector4d Weights(size_t tet, const Vec3& p) const;
  // The tetrahedron that p lies in, or hardly outside of.
  size_t Find(const Vec3& p) const;
  // Of the four shape functions, 1/m.
  std::array<Vec3, 4> Gradients(size_t tet) const;
};

struct SolidSample {
  Vec3 at;
  size_t tet = 0;     // of the fine model
  double weight = 0;  // m^3
};

// Points of the solid: the vertices of its own tetrahedra, so that the displacement that follows the cage is projected onto the
// cage's; four in every tetrahedron of a lattice that is full, in others those of a finer grid that lie in the solid. Their weights
// add up to the model's volume where they reach. `interrupt`, which ends it with its status, may be null.
absl::StatusOr<std::vector<SolidSample>> SamplesOf(const FineModel& fine, const SurfaceMesh& surface, Interrupt* interrupt);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_SOLID_SAMPLES_H_
