#include "tests/sim/energy/mapped_contact.h"

#include <Eigen/LU>

namespace eipc::testing {
namespace {

EmbeddingRow Node(int32_t node) { return {{node, 0, 0, 0}, {1, 0, 0, 0}, 1}; }

// The barycentric coordinates of p in the tet of nodes first .. first + 3.
EmbeddingRow InCage(const Vec3& p, const VecX& q, int32_t first) {
  Eigen::Matrix4d corners;
  for (int k = 0; k < 4; ++k) corners.col(k) << Vec3(q.segment<3>(3 * (first + k))), 1;
  const Eigen::Vector4d weights = corners.partialPivLu().solve(Eigen::Vector4d(p.x(), p.y(), p.z(), 1));
  EmbeddingRow row;
  row.count = 4;
  for (int k = 0; k < 4; ++k) {
    row.nodes[k] = first + k;
    row.weights[k] = weights[k];
  }
  return row;
}

// A tetrahedron of about 0.3 m around `centre`.
VecX CageNodes(const Vec3& centre, Random* random) {
  VecX q(12);
  const Quat turn = random->Rotation();
  const Vec3 corners[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  for (int k = 0; k < 4; ++k) q.segment<3>(3 * k) = centre + turn * (0.2 * corners[k] + random->Cube(0.03));
  return q;
}

MappedContact Finish(MappedContact out) {
  out.j = MatX::Zero(18, out.q.size());
  out.offsets.resize(6, Vec3::Zero());
  for (int v = 0; v < 6; ++v) {
    for (int k = 0; k < out.rows[v].count; ++k) {
      for (int d = 0; d < 3; ++d) out.j(3 * v + d, 3 * out.rows[v].nodes[k] + d) += out.rows[v].weights[k];
    }
  }
  return out;
}

}  // namespace

std::vector<MappedContact> EveryMapping(const std::vector<Vec3>& x, Random* random) {
  std::vector<MappedContact> out;
  MappedContact identity = {"identity"};
  identity.q = Stack(x);
  for (int v = 0; v < 6; ++v) identity.rows.push_back(Node(v));
  out.push_back(Finish(identity));

  MappedContact embedded = {"two cages"};
  embedded.q.resize(24);
  embedded.q << CageNodes(x[0], random), CageNodes(x[3], random);
  for (int v = 0; v < 6; ++v) embedded.rows.push_back(InCage(x[v], embedded.q, v < 3 ? 0 : 4));
  out.push_back(Finish(embedded));

  MappedContact shared = {"one cage and two nodes"};  // vertices 0 and 4 are nodes, the others share a cage
  shared.q.resize(18);
  shared.q << CageNodes(x[0], random), x[0], x[4];
  for (int v = 0; v < 6; ++v) shared.rows.push_back(v == 0 ? Node(4) : v == 4 ? Node(5) : InCage(x[v], shared.q, 0));
  out.push_back(Finish(shared));

  MappedContact fixed = {"second side static"};
  fixed.q = CageNodes(x[0], random);
  for (int v = 0; v < 3; ++v) fixed.rows.push_back(InCage(x[v], fixed.q, 0));
  fixed.rows.resize(6);
  fixed.offsets = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), x[3], x[4], x[5]};
  out.push_back(Finish(fixed));
  return out;
}

}  // namespace eipc::testing
