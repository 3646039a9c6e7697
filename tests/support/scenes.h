#ifndef EIPC_TESTS_SUPPORT_SCENES_H_
#define EIPC_TESTS_SUPPORT_SCENES_H_

// Helpers that write scenes and run them.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sim/dynamics/world.h"
#include "sim/scene/compile_scene.h"
#include "sim/scene/scene_spec.h"
#include "tests/support/meshes.h"

namespace eipc::testing {

// Linear corotated by default; no damping.
MaterialSpec SoftMaterial(double density_kg_m3, double youngs_pa, double poissons,
                          MaterialModel model = &LinearCorotated::kDescriptor);
// Orthogonality potential for affine bodies.
MaterialSpec StiffMaterial(double density_kg_m3, double kappa_pa);

// Box of `size` around the origin of its frame. Embedded boxes sit in a cage of the same number of cells, a tenth larger per axis.
BodySpec FullSpaceBox(const std::string& name, const Vec3& size, const std::array<int, 3>& cells, const MaterialSpec& material);
BodySpec EmbeddedBox(const std::string& name, const Vec3& size, const std::array<int, 3>& cells, const MaterialSpec& material);
BodySpec AffineBox(const std::string& name, const Vec3& size, const MaterialSpec& material);
BodySpec KinematicBox(const std::string& name, const Vec3& size);
BodySpec StaticBox(const std::string& name, const Vec3& size);
// Open square at the body's z = 0.
BodySpec StaticSheet(const std::string& name, double half, int cells = 1);

// No bodies, no gravity, tight Newton tolerance.
SceneSpec EmptyScene();

// The compiled scene; a failed test and an empty model when it does not compile.
std::shared_ptr<const Model> Compile(const SceneSpec& spec);

// Takes `steps` steps; every one must succeed. Returns the number of those that did not converge.
int RunSteps(World* world, int steps, double dt_s);

// Total linear momentum and angular momentum about the world origin of the bodies' mass matrix.
Vec3 LinearMomentum(const Model& model, const State& state, int body);
Vec3 AngularMomentum(const Model& model, const State& state, int body);

// Exact check of the present surfaces: no two triangles meet.
bool IsIntersectionFree(const World& world);

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_SCENES_H_
