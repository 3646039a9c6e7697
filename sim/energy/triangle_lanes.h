#ifndef EIPC_SIM_ENERGY_TRIANGLE_LANES_H_
#define EIPC_SIM_ENERGY_TRIANGLE_LANES_H_

#include <array>
#include <vector>

#include "sim/energy/shell_body.h"
#include "sim/linalg/block_matrix.h"
#include "sim/material/membrane_lanes.h"

namespace eipc {

// The triangles of a shell by fours, one in each lane of the vector registers.
class TriangleLanes {
 public:
  // Four triangles; what is missing in the last group repeats a triangle without area. Nodes of a triangle ascend, so that every
  // block of the matrix's lower triangle is met as it is stored.
  struct Group {
    std::array<Triangle, 4> nodes;
    std::array<std::array<Quad, 2>, 3> gradient;  // of the shape functions in the plane at rest, 1/m
    Quad area;                                    // m^2
  };
  using Forces = std::array<Vec3s, 3>;  // minus those on the nodes, N
  using Blocks = std::array<Mat3s, 6>;  // of the pairs of nodes (a >= b), N/m

  explicit TriangleLanes(const ShellBody& shell);

  size_t triangles() const { return triangles_; }
  const std::vector<Group>& groups() const { return groups_; }
  // F = sum_a (x_a - x_0) g_a^T.
  static Mat32s DeformationGradients(const Group& group, const VecX& q);
  // A P g_a: the forces of the stresses P; they cancel.
  static Forces StressForces(const Group& group, const Mat32s& stress);
  // Adds A sum_k values_k (E_k g_a) (E_k g_b)^T.
  static void AddModes(const Group& group, const MembraneModes& modes, Blocks* out);

  // By group.
  void AddForces(const std::vector<Forces>& forces, VecX* gradient) const;
  void AddBlocks(size_t group, const Blocks& blocks, BlockMatrix* hessian) const;
  void BindPattern(const BlockMatrix& hessian);

 private:
  size_t triangles_ = 0;
  std::vector<Group> groups_;
  std::vector<std::array<int64_t, 6>> slots_;  // by triangle: of the blocks in the matrix
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_TRIANGLE_LANES_H_
