#include "tests/support/scenes.h"

#include <gtest/gtest.h>

#include "sim/audit/audit.h"

namespace eipc::testing {
namespace {

BodySpec NamedBody(const std::string& name, BodyKind kind, MeshData mesh) {
  BodySpec body;
  body.name = name;
  body.kind = kind;
  body.mesh = std::move(mesh);
  return body;
}

}  // namespace

MaterialSpec SoftMaterial(double density_kg_m3, double youngs_pa, double poissons, MaterialModel model) {
  MaterialSpec m;
  m.model = model;
  m.density_kg_m3 = density_kg_m3;
  m.youngs_modulus_pa = youngs_pa;
  m.poissons_ratio = poissons;
  return m;
}

MaterialSpec StiffMaterial(double density_kg_m3, double kappa_pa) {
  return SoftMaterial(density_kg_m3, kappa_pa, 0, &AbdOrthogonality::kDescriptor);
}

BodySpec FullSpaceBox(const std::string& name, const Vec3& size, const std::array<int, 3>& cells, const MaterialSpec& material) {
  BodySpec body = NamedBody(name, BodyKind::kFullSpace, BoxTetGrid(-0.5 * size, 0.5 * size, cells));
  body.material = material;
  return body;
}

BodySpec EmbeddedBox(const std::string& name, const Vec3& size, const std::array<int, 3>& cells, const MaterialSpec& material) {
  BodySpec body = NamedBody(name, BodyKind::kEmbedded, BoxSurfaceGrid(-0.5 * size, 0.5 * size, cells));
  body.cage = BoxTetGrid(-0.55 * size, 0.55 * size, cells);
  body.material = material;
  return body;
}

BodySpec AffineBox(const std::string& name, const Vec3& size, const MaterialSpec& material) {
  BodySpec body = NamedBody(name, BodyKind::kAffine, BoxSurfaceGrid(-0.5 * size, 0.5 * size, {1, 1, 1}));
  body.material = material;
  return body;
}

BodySpec KinematicBox(const std::string& name, const Vec3& size) {
  return NamedBody(name, BodyKind::kKinematic, BoxSurfaceGrid(-0.5 * size, 0.5 * size, {1, 1, 1}));
}

BodySpec StaticBox(const std::string& name, const Vec3& size) {
  return NamedBody(name, BodyKind::kStatic, BoxSurfaceGrid(-0.5 * size, 0.5 * size, {1, 1, 1}));
}

BodySpec StaticSheet(const std::string& name, double half, int cells) {
  return NamedBody(name, BodyKind::kStatic, Sheet(half, 0, cells));
}

SceneSpec EmptyScene() {
  SceneSpec scene;
  scene.name = "test";
  scene.gravity = Vec3::Zero();
  scene.solver.newton_tolerance_m_s = 1e-9;
  return scene;
}

std::shared_ptr<const Model> Compile(const SceneSpec& spec) {
  absl::StatusOr<std::shared_ptr<const Model>> model = CompileScene(spec);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : std::make_shared<const Model>();
}

int RunSteps(World* world, int steps, double dt_s) {
  int not_converged = 0;
  for (int i = 0; i < steps; ++i) {
    const absl::Status status = world->Step({dt_s, {}}, {});
    EXPECT_TRUE(status.ok()) << status;
    not_converged += world->report().outcome != StepOutcome::kConverged;
  }
  return not_converged;
}

Vec3 LinearMomentum(const Model& model, const State& state, int body) {
  Vec3 sum = Vec3::Zero();
  for (int32_t i = model.bodies[body].nodes.begin; i < model.bodies[body].nodes.end; ++i) sum += model.mass.RowTimes(i, state.v);
  return sum;
}

Vec3 AngularMomentum(const Model& model, const State& state, int body) {
  Vec3 sum = Vec3::Zero();
  for (int32_t i = model.bodies[body].nodes.begin; i < model.bodies[body].nodes.end; ++i) {
    sum += Vec3(state.q.segment<3>(3 * i)).cross(model.mass.RowTimes(i, state.v));
  }
  return sum;
}

bool IsIntersectionFree(const World& world) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  const CollisionSurface& s = world.model().surface;
  return AuditSurfaces({&x, &s.triangles, &s.triangle_body, s.body_count, &s.pair_enabled}, true).clean();
}

}  // namespace eipc::testing
