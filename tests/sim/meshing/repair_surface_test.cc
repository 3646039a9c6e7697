#include "sim/meshing/repair_surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/meshing/repair_steps.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

absl::StatusOr<RepairedSurface> Repair(const MeshData& mesh, const RepairOptions& options = {}) {
  return RepairSurface(mesh, FindProblems(mesh), options, nullptr);
}

void ExpectSolid(const SurfaceMesh& surface) { EXPECT_EQ(WhyNotSolid({surface.vertices(), {}, surface.triangles()}), ""); }

// Every corner of every triangle a vertex of its own, as STL files come.
MeshData Exploded(const MeshData& mesh) {
  MeshData soup;
  for (const Triangle& t : mesh.triangles) {
    const int32_t first = static_cast<int32_t>(soup.vertices.size());
    for (const int32_t v : t) soup.vertices.push_back(mesh.vertices[v]);
    soup.triangles.push_back({first, first + 1, first + 2});
  }
  return soup;
}

TEST(FindProblems, CountsWhatIsWrong) {
  const MeshData sphere = testing::Sphere(Vec3::Zero(), 0.1, 2);
  const MeshFindings sound = FindProblems(sphere);
  EXPECT_TRUE(sound.closed());
  EXPECT_EQ(sound.components, 1);
  EXPECT_EQ(sound.self_intersections, 0);
  EXPECT_EQ(sound.scale_note, "");
  EXPECT_GT(sound.volume, 0);

  MeshData dirty = sphere;
  dirty.triangles.pop_back();                               // a hole of three edges
  dirty.triangles.push_back(dirty.triangles[0]);            // a repeated triangle
  dirty.triangles.push_back({0, 0, 1});                     // a collapsed one
  std::swap(dirty.triangles[5][0], dirty.triangles[5][1]);  // turned: three bad edges
  for (Vec3& p : dirty.vertices) p *= 1000;
  dirty.vertices.push_back(Vec3(9, 9, 9));
  const MeshFindings found = FindProblems(dirty);
  EXPECT_EQ(found.open_edges, 3);
  EXPECT_EQ(found.holes, 1);
  EXPECT_EQ(found.duplicate_triangles, 1);
  EXPECT_EQ(found.degenerate_triangles, 1);
  EXPECT_EQ(found.misoriented_edges, 3);
  EXPECT_EQ(found.unused_vertices, 1);
  EXPECT_THAT(found.scale_note, ::testing::HasSubstr("--units mm"));
}

TEST(RepairSurface, KeepsAValidSurfaceToTheLastBit) {
  const MeshData sphere = testing::Sphere(Vec3(1, 2, 3), 0.1, 2);
  const auto repaired = Repair(sphere);
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_EQ(repaired->method, "kept");
  EXPECT_EQ(repaired->surface.vertices(), sphere.vertices);
  EXPECT_EQ(repaired->surface.triangles(), sphere.triangles);
  EXPECT_LT(repaired->distance.max, 1e-12);
}

TEST(RepairSurface, CleansSoupAndTurnsItOutward) {
  MeshData inside_out = Exploded(testing::Sphere(Vec3(1, 2, 3), 0.1, 2));
  for (Triangle& t : inside_out.triangles) std::swap(t[1], t[2]);
  inside_out.triangles.push_back(inside_out.triangles[3]);
  const auto repaired = Repair(inside_out);
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_EQ(repaired->method, "cleaned");
  ExpectSolid(repaired->surface);
  EXPECT_LT(repaired->distance.max, 1e-12);
}

TEST(RepairSurface, FillsAHoleAndOrientsAlike) {
  MeshData holed = testing::Sphere(Vec3::Zero(), 0.1, 2);
  const double volume = FindProblems(holed).volume;
  holed.triangles.erase(holed.triangles.begin() + 8, holed.triangles.begin() + 12);  // the four parts of one coarser triangle
  for (size_t t = 0; t < holed.triangles.size(); t += 3) std::swap(holed.triangles[t][0], holed.triangles[t][1]);
  const auto repaired = Repair(holed);
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_EQ(repaired->method, "repaired");
  ExpectSolid(repaired->surface);
  EXPECT_NEAR(repaired->surface.SignedVolume(), volume, 0.02 * volume);
}

TEST(RepairSurface, MergesSolidsThatCross) {
  MeshData crossing = testing::Sphere(Vec3::Zero(), 0.1, 2);
  const MeshData other = testing::Sphere(Vec3(0.1, 0, 0), 0.1, 2);
  const int32_t shift = static_cast<int32_t>(crossing.vertices.size());
  crossing.vertices.insert(crossing.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (const Triangle& t : other.triangles) crossing.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  EXPECT_GT(FindProblems(crossing).self_intersections, 0);
  const auto repaired = Repair(crossing);
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  ExpectSolid(repaired->surface);
  // Two balls of radius r at distance r: volume 2 (4/3 pi r^3) less a lens of 5/12 pi r^3, and what wrapping adds.
  const double exact = (8.0 / 3 - 5.0 / 12) * M_PI * 1e-3;
  EXPECT_NEAR(repaired->surface.SignedVolume(), exact, 0.08 * exact);
}

TEST(RepairSurface, AThinSheetStaysThin) {
  // An open square sheet has no volume: wrapped, it is a plate of twice the wrap's offset.
  MeshData sheet;
  constexpr int kCells = 8;
  for (int i = 0; i <= kCells; ++i) {
    for (int j = 0; j <= kCells; ++j) sheet.vertices.emplace_back(0.2 * i / kCells, 0.2 * j / kCells, 0.02 * std::sin(0.5 * i));
  }
  for (int i = 0; i < kCells; ++i) {
    for (int j = 0; j < kCells; ++j) {
      const int32_t a = i * (kCells + 1) + j, b = a + kCells + 1;
      sheet.triangles.push_back({a, b, b + 1});
      sheet.triangles.push_back({a, b + 1, a + 1});
    }
  }
  RepairOptions options;
  options.max_hole_share = 0.5;  // its border is no hole to fill
  const auto repaired = Repair(sheet, options);
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_EQ(repaired->method, "wrapped");
  ExpectSolid(repaired->surface);
  EXPECT_LT(repaired->surface.SignedVolume() / (0.2 * 0.2), 0.01 * 0.28);
  EXPECT_LT(repaired->distance.max_from_first, 0.01 * 0.3);
}

TEST(RepairSurface, DecimatesToTheBudgetAndMeasuresTheDistance) {
  const auto repaired = Repair(testing::Sphere(Vec3::Zero(), 0.1, 4), {.max_faces = 500});
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_TRUE(repaired->decimated);
  EXPECT_LE(repaired->surface.triangles().size(), 500u);
  ExpectSolid(repaired->surface);
  EXPECT_GT(repaired->distance.max, 1e-5);    // a coarser ball cannot lie on the finer one
  EXPECT_LT(repaired->distance.max, 0.0025);  // the rise of an arc of twice the mean edge's length
}

TEST(RepairSurface, RefusesWhatHasNoVolume) {
  MeshData one;
  one.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  one.triangles = {{0, 1, 2}};
  EXPECT_EQ(Repair(one).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RepairSurface, CanBeCancelled) {
  const MeshData sphere = testing::Sphere(Vec3::Zero(), 0.1, 2);
  const auto repaired = RepairSurface(sphere, FindProblems(sphere), {}, [](const std::string&, double) { return false; });
  EXPECT_EQ(repaired.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace eipc
