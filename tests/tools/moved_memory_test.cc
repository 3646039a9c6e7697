// The same bits wherever blocks of memory and frames of the stack begin: processors add vectors of four numbers from multiples of
// 32 bytes on, and a sum whose order follows the address depends on what was allocated before it.

#include <alloca.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "eipc/v1/scene.pb.h"
#include "server/convert/mesh_resolver.h"
#include "server/convert/scene_convert.h"
#include "server/convert/scene_override.h"
#include "server/convert/scene_text.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/world.h"
#include "sim/scene/compile_scene.h"
#include "tests/conformance/test_scenes.h"
#include "tests/support/moved_allocations.h"

namespace eipc {
namespace {

struct Run {
  v1::Scene scene;
  std::string path;  // of the scene, which its meshes are relative to; may be empty
  std::vector<std::string> overrides;
  double dt_s = 0.01;
  int steps = 4;
};

// Soft blocks of all materials and fillings fall on each other and on a table.
// Two blocks in cages of which one is condensed and one is made and measured.
constexpr char kCages[] = R"pb(
  bodies {
    name: "condensed"
    embedded { coarse_space: CONDENSED }
    material { model: STABLE_NEO_HOOKEAN }
  }
  bodies {
    name: "measured"
    embedded {
      cage_vertices: 20
      coarse_space: PLAIN
      calibration {}
    }
    pose { position_m { z: 0.105 } }
    material { model: STABLE_NEO_HOOKEAN }
  }
)pb";

constexpr char kPile[] = R"pb(
  bodies {
    name: "a"
    enclosed_volumes { region: WHOLE law: IDEAL_GAS overpressure_pa: 100 }
    material { model: LINEAR_COROTATED rayleigh_beta_s: 1e-3 }
  }
  bodies {
    name: "b"
    enclosed_volumes { law: NEARLY_INCOMPRESSIBLE compressibility_per_pa: 1e-5 }
    material { model: FIXED_COROTATED strain_damping_s: 1e-3 }
  }
  bodies {
    name: "c"
    enclosed_volumes { law: SECOND_ORDER compressibility_per_pa: 1e-5 }
    material { model: STABLE_NEO_HOOKEAN rayleigh_alpha_per_s: 0.1 }
  }
  bodies {
    name: "d"
    material { model: LOG_BARRIER_NEO_HOOKEAN }
  }
  bodies {
    name: "e"
    material { model: ST_VENANT_KIRCHHOFF }
  }
  bodies {
    name: "f"
    material { model: MOONEY_RIVLIN mooney_second_share: 0.3 }
  }
  bodies {
    name: "table"
    static_body {}
    pose { position_m { x: -0.5 y: -0.5 z: -1 } }
  }
  contact { friction_coefficient: 0.5 static_friction_coefficient: 0.6 stribeck_velocity_m_s: 0.01 viscous_friction_s_m: 0.1 }
)pb";

void SetSoft(v1::Body* body) {
  body->mutable_material()->set_density_kg_m3(1000);
  body->mutable_material()->set_youngs_modulus_pa(1e5);
  body->mutable_material()->set_poissons_ratio(0.4);
}

v1::Scene Cages() {
  v1::Scene scene;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kCages, &scene));
  for (v1::Body& body : *scene.mutable_bodies()) {
    SetSoft(&body);
    *body.mutable_embedded()->mutable_surface() = testing::BlockMesh(3, 0.1);
  }
  *scene.mutable_bodies(0)->mutable_embedded()->mutable_cage_mesh() = testing::BlockMesh(1, 0.1);
  return scene;
}

v1::Scene Pile() {
  v1::Scene scene;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kPile, &scene));
  for (int b = 0; b < scene.bodies_size(); ++b) {
    v1::Body& body = *scene.mutable_bodies(b);
    if (body.has_static_body()) {
      *body.mutable_static_body()->mutable_surface() = testing::BlockMesh(1, 1);
      continue;
    }
    *body.mutable_full_space()->mutable_mesh() = testing::BlockMesh(2, 0.1);
    SetSoft(&body);
    v1::Pose& pose = *body.mutable_pose();
    const int column = b / 3, row = b % 3;
    pose.mutable_position_m()->set_x(0.15 * column - 0.2);
    pose.mutable_position_m()->set_y(0.03 * row);
    pose.mutable_position_m()->set_z(0.002 + 0.105 * row);
    pose.mutable_rpy_rad()->set_x(0.01);
    body.mutable_linear_velocity_m_s()->set_x(0.3);
    body.mutable_linear_velocity_m_s()->set_z(-0.5);
  }
  return scene;
}

absl::StatusOr<std::shared_ptr<const Model>> Load(const Run& run) {
  v1::Scene scene = run.scene;
  EIPC_RETURN_IF_ERROR(ApplyOverrides(run.overrides, &scene));
  Problems problems;
  EIPC_ASSIGN_OR_RETURN(const SceneSpec spec, SceneFromProto(scene, MeshResolver::ForLocalScene(run.path, ""), &problems));
  return CompileScene(spec, std::move(problems));
}

// The digest after the last step.
absl::StatusOr<std::string> Take(const Run& run, int threads) {
  EIPC_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model, Load(run));
  World world(model, threads);
  for (int i = 0; i < run.steps; ++i) EIPC_RETURN_IF_ERROR(world.Step({run.dt_s, {}}, {}));
  return world.state().Digest();
}

// `deeper`: bytes that the stack begins further down.
[[gnu::noinline]] absl::StatusOr<std::string> TakeDeeper(size_t deeper, const Run& run, int threads) {
  static_cast<volatile char*>(alloca(deeper))[0] = 1;
  return Take(run, threads);
}

void ExpectSameBits(const Run& run) {
  SCOPED_TRACE(::testing::PrintToString(run.overrides) + run.path);
  testing::AlignAllocations();
  const auto aligned = TakeDeeper(16, run, 1);
  ASSERT_TRUE(aligned.ok()) << aligned.status();
  testing::ShiftAllocations();
  EXPECT_EQ(*TakeDeeper(16, run, 1), *aligned) << "all blocks moved";
  testing::ScatterAllocations(1);
  EXPECT_EQ(*TakeDeeper(32, run, 1), *aligned) << "some blocks moved, and the stack";
  testing::ScatterAllocations(2);
  EXPECT_EQ(*TakeDeeper(32, run, 2), *aligned) << "other blocks moved, two threads";
}

class MovedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::AllocationsAreMoved()) GTEST_SKIP() << "sanitizers replace the allocator";
  }
};

// What the test can see, and what may not be written: the order of this sum follows the address.
TEST_F(MovedMemory, ASumOverMappedMemoryDependsOnTheAddress) {
  const auto sum = [] {
    std::vector<double> x = {1e16, 1, -1e16, 1, 1, 3e15, 7, 1, -3e15, 1, 1};
    EXPECT_LT(reinterpret_cast<uintptr_t>(x.data()) % 16, 1u);
    return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())).sum();
  };
  testing::AlignAllocations();
  const double aligned = sum();
  testing::ShiftAllocations();
  EXPECT_NE(sum(), aligned);
  testing::AlignAllocations();
  EXPECT_EQ(sum(), aligned);
}

TEST_F(MovedMemory, AnAssemblyKeepsItsBitsWithEveryIntegrator) {
  for (const char* integrator : {"BACKWARD_EULER", "TRAPEZOIDAL", "BDF2", "TR_BDF2", "SDIRK2", "IMPLICIT_MIDPOINT",
                                 "TRAPEZOIDAL_UNSPLIT_CONTACT", "VARIATIONAL", "VERLET", "RUNGE_KUTTA_4"}) {
    const bool is_explicit = std::string(integrator) == "VERLET" || std::string(integrator) == "RUNGE_KUTTA_4";
    ExpectSameBits({.scene = testing::Assembly(),
                    .overrides = {std::string("solver.integrator=") + integrator},
                    .dt_s = is_explicit ? 1e-4 : 0.01});
  }
}

TEST_F(MovedMemory, APileKeepsItsBitsWithEveryFrictionModeAndLinearSolver) {
  for (const char* setting : {"contact.friction_mode=LAGGED_UNTIL_CONVERGED", "contact.friction_mode=IMPLICIT",
                              "solver.linear_solver=PCG_DIAGONAL", "solver.linear_solver=PCG_BLOCK", "solver.linear_solver=PCG_IC0",
                              "solver.simplified_newton=true", "solver.integrator=TR_BDF2"}) {
    ExpectSameBits({.scene = Pile(), .overrides = {setting}, .steps = 3});
  }
}

TEST_F(MovedMemory, CagesAreMadeOfTheSameBits) { ExpectSameBits({.scene = Cages()}); }

#ifdef EIPC_HAS_GENERATED_MODELS
Run OfFile(const std::string& name, int steps) {
  const char* source = std::getenv("EIPC_SOURCE_DIR");
  Run run;
  run.path = std::string(source == nullptr ? "." : source) + "/models/scenes/" + name + ".textproto";
  const auto scene = LoadSceneText(run.path);
  EXPECT_TRUE(scene.ok()) << scene.status();
  run.scene = *scene;
  run.dt_s = 0.02;
  run.steps = steps;
  return run;
}

TEST_F(MovedMemory, AGraspInACondensedCageKeepsItsBits) { ExpectSameBits(OfFile("bubble_teddy_low_sound", 40)); }

TEST_F(MovedMemory, AFoldedTowelKeepsItsBits) { ExpectSameBits(OfFile("towel_fold", 6)); }
#endif

}  // namespace
}  // namespace eipc
