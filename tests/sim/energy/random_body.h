#ifndef EIPC_TESTS_SIM_ENERGY_RANDOM_BODY_H_
#define EIPC_TESTS_SIM_ENERGY_RANDOM_BODY_H_

#include <Eigen/LU>

#include "sim/energy/elasticity.h"
#include "tests/support/meshes.h"
#include "tests/support/random.h"

namespace eipc::testing {

// Two cells of tets with their corners renamed at random, so that node pairs come in either order.
inline ElasticBody RandomBody(const Material& material, double beta, Random* random, VecX* rest) {
  const MeshData mesh = BoxTetGrid(Vec3(0, 0, 0), Vec3(0.2, 0.1, 0.1), {2, 1, 1});
  std::vector<int32_t> name(mesh.vertices.size());
  for (size_t i = 0; i < name.size(); ++i) name[i] = static_cast<int32_t>((5 * i + 3) % name.size());
  rest->resize(3 * name.size());
  for (size_t i = 0; i < name.size(); ++i) rest->segment<3>(3 * name[i]) = mesh.vertices[i] + random->Cube(0.01);
  ElasticBody body;
  body.material = material;
  body.rayleigh_beta_s = beta;
  for (const Tet& t : mesh.tets) {
    body.nodes.push_back({name[t[0]], name[t[1]], name[t[2]], name[t[3]]});
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = rest->segment<3>(3 * name[t[k + 1]]) - rest->segment<3>(3 * name[t[0]]);
    body.inverse_rest.push_back(edges.inverse());
    body.volume.push_back(random->Uniform(0.3, 1) * edges.determinant() / 6);  // partly filled, as in a cage
  }
  return body;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_ENERGY_RANDOM_BODY_H_
