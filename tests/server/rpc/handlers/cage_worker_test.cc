#include "server/rpc/handlers/cage_worker.h"

#include <gtest/gtest.h>

#include "server/convert/scene_convert.h"
#include "server/convert/scene_meshes.h"
#include "tests/support/meshes.h"

namespace eipc::rpc {
namespace {

// A worker that only measures a calibration gives the authored cage back as it was: the boundary sets of the scene count its
// vertices, also those that no tetrahedron uses.
TEST(CageWorker, LeavesAnAuthoredCageAsItIs) {
  v1::Scene scene;
  v1::Body& body = *scene.add_bodies();
  body.set_name("box");
  body.mutable_material()->set_density_kg_m3(1000);
  body.mutable_material()->set_youngs_modulus_pa(1e5);
  body.mutable_material()->set_poissons_ratio(0.3);
  MeshData cage = testing::BoxTetGrid(Vec3(-0.06, -0.06, -0.06), Vec3(0.06, 0.06, 0.06), {1, 1, 1});
  cage.vertices.insert(cage.vertices.begin(), Vec3(1, 1, 1));
  for (Tet& tet : cage.tets) {
    for (int32_t& v : tet) ++v;
  }
  MeshToProto(testing::BoxSurfaceGrid(Vec3(-0.05, -0.05, -0.05), Vec3(0.05, 0.05, 0.05), {2, 2, 2}),
              body.mutable_embedded()->mutable_surface());
  MeshToProto(cage, body.mutable_embedded()->mutable_cage_mesh());
  body.mutable_embedded()->mutable_calibration();

  const auto output = CageWorker(scene.SerializeAsString());
  ASSERT_TRUE(output.ok()) << output.status();
  v1::Scene made;
  ASSERT_TRUE(made.ParseFromString(*output)) << *output;
  Problems problems;
  const auto spec = SceneFromProto(made, MeshResolver({"", "", true}), &problems);
  ASSERT_TRUE(spec.ok() && problems.empty());
  ASSERT_TRUE(spec->bodies[0].cage);
  EXPECT_EQ(spec->bodies[0].cage->vertices, cage.vertices);
  EXPECT_EQ(spec->bodies[0].cage->tets, cage.tets);
  ASSERT_TRUE(spec->bodies[0].calibration);
  EXPECT_FALSE(spec->bodies[0].calibration->measured());
}

}  // namespace
}  // namespace eipc::rpc
