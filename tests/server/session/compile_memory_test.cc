// What compiling takes at its largest moment, beside the estimate that the budget is asked for. Prints the figures.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/session/memory_budget.h"
#include "tests/support/allocations.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

using testing::AffineBox;
using testing::EmbeddedBox;
using testing::FullSpaceBox;
using testing::SoftMaterial;
using testing::StaticSheet;
using testing::StiffMaterial;

struct Counts {
  int64_t vertices = 0, triangles = 0, tets = 0;
};

Counts CountsOf(const SceneSpec& spec) {
  Counts counts;
  const auto add = [&](const MeshData& mesh) {
    counts.vertices += static_cast<int64_t>(mesh.vertices.size());
    counts.triangles += static_cast<int64_t>(mesh.triangles.size());
    counts.tets += static_cast<int64_t>(mesh.tets.size());
  };
  for (const BodySpec& body : spec.bodies) {
    add(body.mesh);
    if (body.cage) add(*body.cage);
  }
  return counts;
}

void ExpectTheEstimateSuffices(const std::string& name, const SceneSpec& spec) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations are not counted in this build";
  testing::StartPeak();
  const auto model = CompileScene(spec);
  const int64_t peak = testing::PeakBytes();
  ASSERT_TRUE(model.ok()) << name << ": " << model.status();
  const int64_t estimate = EstimateCompileBytes(spec);
  const Counts counts = CountsOf(spec);
  std::printf("%-28s %8ld vertices %8ld triangles %8ld tets %4zu bodies: %7.2f MiB, estimate %7.2f (%.2f), model %.2f MiB\n",
              name.c_str(), counts.vertices, counts.triangles, counts.tets, spec.bodies.size(),
              static_cast<double>(peak) / (1 << 20), static_cast<double>(estimate) / (1 << 20),
              static_cast<double>(estimate) / static_cast<double>(peak),
              static_cast<double>(EstimateModelBytes(**model)) / (1 << 20));
  EXPECT_GE(estimate, peak) << name;
  EXPECT_LE(static_cast<double>(estimate), 4 * static_cast<double>(peak) + (1 << 20)) << name;
}

SceneSpec Of(std::vector<BodySpec> bodies) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = std::move(bodies);
  return scene;
}

// First, so that what is made once in a process is made.
TEST(CompileMemory, OfAFewBodies) {
  ExpectTheEstimateSuffices("an empty scene", Of({StaticSheet("sheet", 1)}));
  ExpectTheEstimateSuffices("a box", Of({FullSpaceBox("box", Vec3(1, 1, 1), {1, 1, 1}, SoftMaterial(1000, 1e5, 0.3))}));
}

TEST(CompileMemory, OfTetrahedra) {
  for (const int cells : {4, 12, 24}) {
    const auto material = SoftMaterial(1000, 1e5, 0.3);
    ExpectTheEstimateSuffices(absl::StrCat("full space, ", cells, " cells"),
                              Of({FullSpaceBox("box", Vec3(1, 1, 1), {cells, cells, cells}, material)}));
    ExpectTheEstimateSuffices(absl::StrCat("embedded, ", cells, " cells"),
                              Of({EmbeddedBox("box", Vec3(1, 1, 1), {cells, cells, cells}, material)}));
  }
}

// A stiffness is made after the other, and once where bodies have the same.
TEST(CompileMemory, OfCondensedBodies) {
  for (const bool different : {false, true}) {
    for (const int cells : {1, 2, 3}) {
      std::vector<BodySpec> bodies;
      for (int i = 0; i < 5; ++i) {
        const double youngs = 1e5 + (different ? 1e3 * i : 0);
        bodies.push_back(
            EmbeddedBox(absl::StrCat("box ", i), Vec3(0.1, 0.1, 0.1), {cells, cells, cells}, SoftMaterial(1000, youngs, 0.3)));
        bodies.back().coarse_space = CoarseSpace::kCondensed;
        bodies.back().pose.position = Vec3(0.2 * i, 0, 0);
      }
      ExpectTheEstimateSuffices(absl::StrCat("condensed, ", cells, different ? " cells, different" : " cells"),
                                Of(std::move(bodies)));
    }
  }
}

TEST(CompileMemory, OfSurfaces) {
  for (const int cells : {10, 60, 200}) {
    ExpectTheEstimateSuffices(absl::StrCat("static, ", cells, " cells"), Of({StaticSheet("sheet", 1, cells)}));
  }
}

TEST(CompileMemory, OfManyBodies) {
  for (const int count : {30, 300, 1000}) {
    std::vector<BodySpec> bodies;
    for (int i = 0; i < count; ++i) {
      bodies.push_back(AffineBox(absl::StrCat("box ", i), Vec3(0.1, 0.1, 0.1), StiffMaterial(1000, 1e7)));
      bodies.back().pose.position = 0.2 * Eigen::Vector3i(i % 10, i / 10 % 10, i / 100).cast<double>();
    }
    ExpectTheEstimateSuffices("affine boxes", Of(std::move(bodies)));
  }
}

TEST(CompileMemory, OfASceneThatBeginsInEquilibrium) {
  for (const int cells : {2, 6, 10}) {
    SceneSpec scene = Of(
        {FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {cells, cells, cells}, SoftMaterial(1000, 1e5, 0.3)), StaticSheet("floor", 0.5)});
    scene.gravity = Vec3(0, 0, -9.81);
    scene.bodies[0].pose.position = Vec3(0, 0, 0.051);
    scene.start_in_equilibrium = true;
    ExpectTheEstimateSuffices(absl::StrCat("in equilibrium, ", cells, " cells"), scene);
  }
}

TEST(CompileMemory, OfASliderInEquilibrium) {
  SceneSpec scene = Of({FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {7, 7, 7}, SoftMaterial(1000, 1e5, 0.3))});
  BoundarySetSpec& set = scene.bodies[0].boundary_sets.emplace_back();
  set.name = "held";
  set.box = {Vec3(-1, -1, -1), Vec3(1, 1, 1)};  // all 512 vertices
  set.slider.emplace();
  set.slider->slider.max_force_n = 1;
  set.slider->slider.stiffness_n_m = 100;
  set.slider->slider.guide_stiffness_n_m = 1e7;
  scene.start_in_equilibrium = true;
  for (const LinearSolverKind solver : {LinearSolverKind::kCholesky, LinearSolverKind::kPcgIc0}) {
    scene.solver.linear_solver = solver;
    ExpectTheEstimateSuffices("slider in equilibrium", scene);
  }
}

BodySpec Cloth(int cells) {
  BodySpec body = StaticSheet("cloth", 0.1, cells);
  body.kind = BodyKind::kShell;
  body.material = {.density_kg_m3 = 400, .youngs_modulus_pa = 1e5, .poissons_ratio = 0.3};
  body.shell.thickness_m = 1e-4;
  return body;
}

TEST(CompileMemory, OfSheets) {
  for (const int cells : {10, 40, 120}) ExpectTheEstimateSuffices(absl::StrCat("cloth, ", cells, " cells"), Of({Cloth(cells)}));
  BodySpec torn = Cloth(40);
  torn.mesh.vertices[0] = Vec3(-1, -1, 0);
  ExpectTheEstimateSuffices("cloth with one long edge", Of({torn}));
}

TEST(CompileMemory, OfFilledVolumesAndJoints) {
  BodySpec box = FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {8, 8, 8}, SoftMaterial(1000, 1e5, 0.3));
  box.enclosed_volumes.assign(1000, {});
  ExpectTheEstimateSuffices("1000 fillings of a box", Of({box}));
  SceneSpec joined = Of({AffineBox("a", Vec3(0.1, 0.1, 0.1), StiffMaterial(1000, 1e7)),
                         AffineBox("b", Vec3(0.1, 0.1, 0.1), StiffMaterial(1000, 1e7))});
  joined.bodies[1].pose.position = Vec3(0.2, 0, 0);
  for (int i = 0; i < 1000; ++i) {
    JointSpec& joint = joined.joints.emplace_back();
    joint.name = absl::StrCat("joint ", i);
    joint.body_a = joined.bodies[0].name;
    joint.body_b = joined.bodies[1].name;
    joint.kind = JointKind::kSlider;
    joint.point = Vec3(0.1, 0, 0);
    joint.axis = Vec3(1, 0, 0);
  }
  ExpectTheEstimateSuffices("1000 sliders", joined);
}

}  // namespace
}  // namespace eipc
