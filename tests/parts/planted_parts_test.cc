// Built from a copy of the sources in which planted_parts.py has planted a material, a friction law, an integrator and a mesh
// format: nothing else is needed for them to be found, checked, described and computed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/contact/friction_law.h"
#include "sim/dynamics/integrators.h"
#include "sim/dynamics/scheme_run.h"
#include "sim/energy/friction_curve.h"
#include "sim/material/material.h"
#include "sim/mesh/read_mesh.h"
#include "tools/describe_parts.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

TEST(PlantedParts, AMaterial) {
  const MaterialModel material = FindMaterial("PLANTED_SPRING");
  ASSERT_NE(material, nullptr);
  EXPECT_EQ(Materials().back(), material);
  EXPECT_EQ(material->parameters[0].name, "planted_stiffness_pa");
  EXPECT_FALSE(material->parameters[0].bounds.Contains(0));
  MaterialSpec spec;
  spec.model = material;
  spec.planted_stiffness_pa = 8;
  const Material made = material->make(spec);
  const double psi = std::visit([](const auto& m) { return m.Psi(2 * Mat3::Identity(), Mat3::Identity()); }, made);
  EXPECT_EQ(psi, 12);
  EXPECT_THAT(DescribeParts(), HasSubstr("| `PLANTED_SPRING` | `k/2 \\|F - R\\|^2` | `planted_stiffness_pa` |"));
  EXPECT_THAT(DescribeParts(), HasSubstr("| `planted_stiffness_pa` | Pa | > 0 | stiffness of the springs |"));
}

TEST(PlantedParts, AFrictionLaw) {
  const FrictionSpec spec = Overridden({.dynamic_coefficient = 0.5}, {.planted_drag_s2_m2 = 2.0});
  const FrictionLaw law = ToFrictionLaw(spec, 1e-4);
  EXPECT_EQ(law.planted_drag_s2_m2, 2);
  EXPECT_EQ(FrictionProblems({.planted_drag_s2_m2 = -1.0}, {}).size(), 1u);
  const FrictionCurve curve(law, 1e-6, 1e-2), plain(ToFrictionLaw({.dynamic_coefficient = 0.5}, 1e-4), 1e-6, 1e-2);
  const double y = 3e-2;  // 3 m/s: drag 2 * 9 over a coefficient of 0.5
  EXPECT_NEAR(y * (curve.ForceOverY(y) - plain.ForceOverY(y)), 36, 1e-9);
  const double step = 1e-6,
               slope = ((y + step) * curve.ForceOverY(y + step) - (y - step) * curve.ForceOverY(y - step)) / (2 * step);
  EXPECT_NEAR(curve.Slope(y), slope, 1e-6 * slope);
  EXPECT_NEAR((curve.Potential(y + step) - curve.Potential(y - step)) / (2 * step), y * curve.ForceOverY(y), 1e-6);
  EXPECT_THAT(DescribeParts(), HasSubstr("| `planted_drag_s2_m2` | s^2/m^2 | >= 0 |"));
}

TEST(PlantedParts, AnIntegrator) {
  EXPECT_EQ(Integrators().back().name, "PLANTED_THETA");
  const Scheme theta = MakeScheme(IntegratorKind::kPlantedTheta);
  const VecX q = VecX::Ones(3), v = 2 * VecX::Ones(3);
  SchemeRun run;
  SchemePoint point;
  run.Begin(theta, 0.5, {&q, &v}, {});
  run.Prepare(&point);
  run.Accept(q, v);
  EXPECT_TRUE(run.NeedsForce());
  run.SetForce(3 * VecX::Ones(3));
  run.Prepare(&point);
  EXPECT_EQ(point.row.a, 0.6);
  EXPECT_DOUBLE_EQ(point.q_hat[0], 1 + 0.4 * 0.5 * 2);
  EXPECT_DOUBLE_EQ(point.v_hat[0], 2 + 0.4 * 0.5 * 3);
  EXPECT_THAT(DescribeParts(), HasSubstr("| `PLANTED_THETA` | 1 | 1 |"));
}

TEST(PlantedParts, AMeshFormat) {
  const auto mesh = ParseMesh("3 0 0 0 1 0 0 0 1 0", "a.planted");
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->triangles.size(), 1u);
  EXPECT_THAT(std::string(ParseMesh("", "a.step").status().message()), HasSubstr("supported: .planted, .obj"));
  EXPECT_THAT(DescribeParts(), HasSubstr("| Planted | `.planted` |  | yes |  | a triangle |"));
}

}  // namespace
}  // namespace eipc
