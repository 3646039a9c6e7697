#include "sim/meshing/prepare_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/meshing/sheet_steps.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

enum class Cut { kAlike, kAlternating };

// A square of `side` in cells that two triangles fill.
MeshData Grid(int cells, Cut cut, double side = 0.3) {
  MeshData mesh;
  const int row = cells + 1;
  for (int j = 0; j < row; ++j) {
    for (int i = 0; i < row; ++i) mesh.vertices.emplace_back(side * i / cells, side * j / cells, 0);
  }
  for (int j = 0; j < cells; ++j) {
    for (int i = 0; i < cells; ++i) {
      const int32_t a = i + row * j, b = a + 1, c = a + row, d = c + 1;
      if (cut == Cut::kAlike || (i + j) % 2 == 0) {
        mesh.triangles.insert(mesh.triangles.end(), {{a, b, d}, {a, d, c}});
      } else {
        mesh.triangles.insert(mesh.triangles.end(), {{a, b, c}, {b, d, c}});
      }
    }
  }
  return mesh;
}

MeshData Rolled(MeshData mesh, double radius) {
  for (Vec3& p : mesh.vertices) p = Vec3(radius * std::sin(p.x() / radius), p.y(), radius * (1 - std::cos(p.x() / radius)));
  return mesh;
}

SheetOptions Kept() { return {.thickness_m = 1e-3, .keep_triangles = true}; }

TEST(MeasureBending, IsOneOnTheMeshesThatPlateTheoryHoldsOn) {
  const MeshData grid = Grid(12, Cut::kAlike);
  EXPECT_NEAR(MeasureBending(grid.vertices, grid.triangles).stiffness_ratio, 1, 1e-9);
  EXPECT_EQ(MeasureBending(grid.vertices, grid.triangles).wrong_share, 0);
  MeshData equilateral = grid;  // sheared by 60 degrees
  for (Vec3& p : equilateral.vertices) p = Vec3(p.x() - 0.5 * p.y(), std::sqrt(0.75) * p.y(), 0);
  EXPECT_NEAR(MeasureBending(equilateral.vertices, equilateral.triangles).stiffness_ratio, 1, 1e-9);
  const MeshData tube = Rolled(grid, 0.1);
  EXPECT_NEAR(MeasureBending(tube.vertices, tube.triangles).stiffness_ratio, 1, 0.01);
}

// On union-jack meshes curvature along the grid is exact, and twist has the energy 2 instead of 1 - nu = 0.7: (1 + 1 + 2) / 2.7.
TEST(MeasureBending, FindsGridsWhoseDiagonalsAlternate) {
  const MeshData grid = Grid(24, Cut::kAlternating);
  const SheetBending bending = MeasureBending(grid.vertices, grid.triangles);
  EXPECT_NEAR(bending.stiffness_ratio, 4 / 2.7, 1e-6);
  EXPECT_GT(bending.wrong_share, 0.9);
}

TEST(PrepareSheet, KeepsASoundSheetToTheLastBit) {
  const MeshData grid = Grid(8, Cut::kAlike);
  const auto made = PrepareSheet(grid, Kept(), nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->surface.vertices(), grid.vertices);
  EXPECT_EQ(made->surface.triangles(), grid.triangles);
  EXPECT_THAT(made->steps, ::testing::IsEmpty());
  EXPECT_EQ(made->note, "");
  EXPECT_EQ(made->borders, 1);
  EXPECT_EQ(made->components, 1);
  EXPECT_NEAR(made->area_m2, 0.09, 1e-12);
  EXPECT_NEAR(made->least_angle_deg, 45, 1e-9);
}

TEST(PrepareSheet, WarnsWhereTheMeshBendsWrong) {
  const auto made = PrepareSheet(Grid(16, Cut::kAlternating), Kept(), nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->note, HasSubstr("bending of this mesh is off by a factor of about 1.48"));
}

// A seam: every triangle with vertices of its own, some of them displaced by little, a hundredth of an edge.
TEST(PrepareSheet, WeldsSeamsAndTurnsTrianglesAlike) {
  const MeshData grid = Grid(8, Cut::kAlike);
  MeshData soup;
  for (size_t k = 0; k < grid.triangles.size(); ++k) {
    const int32_t first = static_cast<int32_t>(soup.vertices.size());
    for (const int32_t v : grid.triangles[k]) soup.vertices.push_back(grid.vertices[v] + Vec3(0, 0, k % 5 == 0 ? 1e-4 : 0));
    soup.triangles.push_back(k % 3 == 0 ? Triangle{first, first + 2, first + 1} : Triangle{first, first + 1, first + 2});
  }
  const auto made = PrepareSheet(soup, Kept(), nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->surface.vertices().size(), grid.vertices.size());
  EXPECT_EQ(made->surface.triangles().size(), grid.triangles.size());
  EXPECT_EQ(made->borders, 1);
  for (const Triangle& t : made->surface.triangles()) {
    const auto& x = made->surface.vertices();
    EXPECT_GT((x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]).z(), 0);
  }
}

TEST(PrepareSheet, ClosesNothing) {
  MeshData ball = testing::Sphere(Vec3::Zero(), 0.1, 3);
  ball.triangles.erase(ball.triangles.begin(), ball.triangles.begin() + 1);
  const auto made = PrepareSheet(ball, Kept(), nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->borders, 1);
  EXPECT_EQ(made->surface.triangles().size(), ball.triangles.size());
}

absl::Status Refusal(const MeshData& mesh, const SheetOptions& options) {
  const auto made = PrepareSheet(mesh, options, nullptr);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  return made.status();
}

TEST(PrepareSheet, SaysWhatIsNoSheet) {
  MeshData fin = Grid(4, Cut::kAlike);
  fin.vertices.emplace_back(0.1, 0.1, 0.1);
  fin.triangles.push_back({6, 7, static_cast<int32_t>(fin.vertices.size()) - 1});
  EXPECT_THAT(Refusal(fin, Kept()).message(), HasSubstr("1 edges have three triangles or more, the first at (0.075"));

  MeshData crossing = Grid(4, Cut::kAlike);
  const int32_t first = static_cast<int32_t>(crossing.vertices.size());
  crossing.vertices.insert(crossing.vertices.end(), {Vec3(0.1, 0.11, -0.1), Vec3(0.2, 0.12, -0.1), Vec3(0.15, 0.13, 0.1)});
  crossing.triangles.push_back({first, first + 1, first + 2});
  EXPECT_THAT(Refusal(crossing, Kept()).message(), HasSubstr("passes through or touches itself"));

  MeshData point = Grid(2, Cut::kAlike);
  const int32_t more = static_cast<int32_t>(point.vertices.size());
  point.vertices.insert(point.vertices.end(), {Vec3(-0.1, 0, 0), Vec3(0, -0.1, 0)});
  point.triangles.push_back({0, more, more + 1});
  EXPECT_THAT(Refusal(point, Kept()).message(), HasSubstr("meet in a single vertex at (0, 0, 0) m"));

  MeshData moebius;
  constexpr int kAround = 24;
  for (int i = 0; i < kAround; ++i) {
    const double a = 2 * M_PI * i / kAround;
    const Vec3 out(std::cos(a), std::sin(a), 0), across = std::cos(a / 2) * Vec3::UnitZ() + std::sin(a / 2) * out;
    moebius.vertices.push_back(0.1 * out - 0.02 * across);
    moebius.vertices.push_back(0.1 * out + 0.02 * across);
  }
  for (int32_t i = 0; i < kAround; ++i) {
    const bool last = i + 1 == kAround;
    const int32_t a = 2 * i, b = 2 * i + 1, c = last ? 1 : a + 2, d = last ? 0 : a + 3;
    moebius.triangles.insert(moebius.triangles.end(), {{a, c, d}, {a, d, b}});
  }
  EXPECT_THAT(Refusal(moebius, Kept()).message(), HasSubstr("has one side only"));

  EXPECT_THAT(Refusal(Grid(4, Cut::kAlike), {.thickness_m = 0}).message(), HasSubstr("the thickness must be > 0"));
  EXPECT_THAT(Refusal(Grid(4, Cut::kAlike), {.thickness_m = 0.2, .keep_triangles = true}).message(),
              HasSubstr("more than the mean edge"));
  MeshData lines = Grid(2, Cut::kAlike);
  for (Vec3& p : lines.vertices) p.y() = 0;
  EXPECT_THAT(Refusal(lines, Kept()).message(), HasSubstr("none of the file's 8 triangles has an area"));
  MeshData solid = testing::Sphere(Vec3::Zero(), 0.1, 1);
  solid.tets.push_back({0, 1, 2, 3});
  EXPECT_THAT(Refusal(solid, Kept()).message(), HasSubstr("has tetrahedra"));
}

// A client that asks a server for a shell may send anything.
TEST(PrepareSheet, RefusesIndicesAndCoordinatesBeforeTheyAreUsed) {
  for (const int32_t vertex : {-1, 25, INT32_MAX}) {
    MeshData mesh = Grid(4, Cut::kAlike);
    mesh.triangles[7][2] = vertex;
    EXPECT_THAT(Refusal(mesh, Kept()).message(), HasSubstr("1 triangles refer to vertices outside 0..24"));
  }
  for (const double side : {1e7, 1e150, 1e200, 1e-7}) {
    EXPECT_THAT(Refusal(Grid(4, Cut::kAlike, side), {.thickness_m = 1e-9}).message(),
                HasSubstr("a body is 1e-06 to 1e+06 m large"));
  }
  MeshData nowhere = Grid(4, Cut::kAlike);
  nowhere.vertices[3].x() = NAN;
  EXPECT_THAT(Refusal(nowhere, Kept()).message(), HasSubstr("vertex 3 is not finite"));
  MeshData unused = Grid(4, Cut::kAlike);
  unused.vertices.emplace_back(1e200, 0, 0);
  EXPECT_TRUE(PrepareSheet(unused, Kept(), nullptr).ok());
}

TEST(PrepareSheet, StopsWhenAskedTo) {
  const auto made = PrepareSheet(Grid(4, Cut::kAlike), Kept(), [](const std::string&, double) { return false; });
  EXPECT_EQ(made.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace eipc
