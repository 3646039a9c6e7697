// The law of force against gap that the area-weighted form promises: two surfaces push each other with k |b'(gap)| on each unit of
// area, however they are cut into triangles, and however the triangles lie.

#include <gtest/gtest.h>

#include <numbers>

#include "sim/contact/barrier_function.h"
#include "sim/contact/barrier_stencil.h"
#include "sim/contact/contact_set.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/mesh/shapes.h"
#include "tests/support/meshes.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

constexpr double kDhat = 1e-3;

// Force on the first body along z and the energy, both for stiffness 1.
struct Load {
  double force = 0;
  double energy = 0;
  double by_edges = 0;  // of the force, by pairs of edges
};

class Pair {
 public:
  // Whether the second body stays flat, or both are sheets.
  enum Second { kDeforms, kRigid, kSheets };

  Pair(const MeshData& first, const MeshData& second, double dhat = kDhat, Second kind = kDeforms)
      : surface_(BuildCollisionSurface({first.vertices, second.vertices}, {first.triangles, second.triangles})), dhat_(dhat) {
    surface_.pair_enabled = {0, 1, 1, 0};
    surface_.body_stays_flat = {0, kind == kRigid};
    if (kind == kSheets) surface_.sheets = {.body_thin = {1, 1}, .body_half_thickness = {0, 0}};
    weights_ = ContactWeights(surface_);
    settings_.dhat_m = dhat;
    contacts_ = std::make_unique<ContactSet>(&surface_, &weights_, settings_);
    moving_ = std::make_unique<testing::MovingSurface>(surface_);
    x_ = surface_.rest_positions;
    first_count_ = first.vertices.size();
  }

  // The first body moved by `by`.
  Load At(const Vec3& by) {
    std::vector<Vec3> x = x_;
    for (size_t i = 0; i < first_count_; ++i) x[i] += by;
    BroadPhase broad_phase = moving_->Detection(dhat_);
    broad_phase.UpdateBounds(testing::Stacked(x), testing::Stacked(x), 0);
    ThreadPool pool(1);
    contacts_->Update(broad_phase.candidates(), x, &pool);
    Load load;
    for (const ContactStencil& s : contacts_->stencils()) {
      const StencilPositions at = {{x[s.v[0]], x[s.v[1]], x[s.v[2]], x[s.v[3]]}};
      load.energy += s.weight * BarrierStencilValue(s, at);
      const Vec12 g = BarrierStencilGradient(s, at);
      double force = 0;
      for (int i = 0; i < 4; ++i) force -= static_cast<size_t>(s.v[i]) < first_count_ ? s.weight * g[3 * i + 2] : 0;
      load.force += force;
      if (s.kind == ContactKind::kEdgeEdge) load.by_edges += force;
    }
    return load;
  }

  void Deform(int32_t vertex, const Vec3& by) { x_[vertex] += by; }

  const ContactSet& contacts() const { return *contacts_; }

 private:
  CollisionSurface surface_;
  ContactWeights weights_;
  ContactSettings settings_;
  std::unique_ptr<ContactSet> contacts_;
  std::unique_ptr<testing::MovingSurface> moving_;
  std::vector<Vec3> x_;
  size_t first_count_ = 0;
  double dhat_;
};

MeshData Turned(MeshData mesh, double angle, const Vec3& shift) {
  for (Vec3& p : mesh.vertices) p = Eigen::AngleAxisd(angle, Vec3::UnitZ()) * p + shift;
  return mesh;
}

MeshData Block(double size, int cells, double height) {
  return testing::BoxSurfaceGrid(Vec3(-size / 2, -size / 2, 0), Vec3(size / 2, size / 2, height),
                                 {cells, cells, std::max(1, cells / 2)});
}

struct Placement {
  const char* name;
  double angle;
  Vec3 shift;
};
const Placement kPlacements[] = {{"aligned", 0, Vec3(0, 0, 0)},
                                 {"shifted", 0, Vec3(0.00123, 0.00217, 0)},
                                 {"turned", 0.3, Vec3(0.00123, 0.00217, 0)},
                                 {"turned by 45 degrees", std::numbers::pi / 4, Vec3(-0.0007, 0.0011, 0)}};

// A block of 4 cm stands on a floor. Either is refined by 2 and by 4, from a few cells up; the largest deviation from area |b'|.
// Where the vertices of two bodies that deform coincide, the edges that meet there add some percent, most in a block of 2 x 2
// cells.
TEST(ForceGapLaw, ABlockOnAFloor) {
  constexpr double kSize = 0.04;
  double worst = 0;
  for (int block : {1, 2, 4, 8, 16}) {
    for (int floor : {1, 10, 20, 40}) {
      for (const Placement& p : kPlacements) {
        // Rows of a finer floor's vertices exactly below the border of a coarse block count whole, not half: up to a quarter too
        // much.
        if (p.shift.isZero(0) && 0.2 / floor < 0.99 * kSize / block) continue;
        for (const Pair::Second second : {Pair::kDeforms, Pair::kRigid}) {
          const double within = p.shift.isZero(0) && second == Pair::kDeforms ? 0.13 : 0.05;
          Pair pair(Turned(Block(kSize, block, 0.02), p.angle, p.shift), testing::Sheet(0.1, 0, floor), kDhat, second);
          for (double gap : {1e-4, 3e-4, 6e-4}) {
            const double ratio = pair.At(Vec3(0, 0, gap)).force / (-kSize * kSize * BarrierFirst(gap, kDhat));
            EXPECT_NEAR(ratio, 1, within) << "block in " << block << ", floor in " << floor << " cells, " << p.name << ", gap "
                                          << gap << ", second " << second;
            if (within == 0.05) worst = std::max(worst, std::abs(ratio - 1));
          }
        }
      }
    }
  }
  RecordProperty("worst_percent", static_cast<int>(100 * worst));
}

// Triangles down to a quarter of dhat, on both sides.
TEST(ForceGapLaw, TrianglesSmallerThanDhat) {
  constexpr double kSize = 0.02, kWide = 4e-3;
  for (int cells : {10, 20}) {  // 2 mm and 1 mm on a dhat of 4 mm
    for (const Placement& p : kPlacements) {
      Pair pair(Turned(testing::Sheet(kSize / 2, 0, cells), p.angle, p.shift), testing::Sheet(0.03, 0, 3 * cells), kWide);
      for (double gap : {4e-4, 1.2e-3, 2.4e-3}) {
        const double ratio = pair.At(Vec3(0, 0, gap)).force / (-kSize * kSize * BarrierFirst(gap, kWide));
        EXPECT_NEAR(ratio, 1, 0.05) << cells << " cells, " << p.name << ", gap " << gap;
      }
    }
  }
}

MeshData SlimSheet(double size, int along, int across) {
  MeshData sheet;
  for (int j = 0; j <= across; ++j) {
    for (int i = 0; i <= along; ++i) sheet.vertices.emplace_back(size * i / along - size / 2, size * j / across - size / 2, 0);
  }
  for (int j = 0; j < across; ++j) {
    for (int i = 0; i < along; ++i) {
      const int low = i + (along + 1) * j, high = low + along + 1;
      sheet.triangles.push_back({low, low + 1, high + 1});
      sheet.triangles.push_back({low, high + 1, high});
    }
  }
  return sheet;
}

// Two sheets of right triangles, up to 50 times as long as they are high.
TEST(ForceGapLaw, TwoSheetsOfSlimTriangles) {
  constexpr double kSize = 0.1, kGap = kDhat / 2;
  for (const int slimness : {1, 5, 20, 50}) {
    const MeshData first = SlimSheet(kSize, 5, 5 * slimness), second = SlimSheet(2 * kSize, 10, 10 * slimness);
    for (const double angle : {0.3, 0.8, 1.3}) {
      Pair pair(Turned(first, angle, Vec3(0.00123, 0.00217, 0)), second, kDhat, Pair::kSheets);
      const double ratio = pair.At(Vec3(0, 0, kGap)).force / (-kSize * kSize * BarrierFirst(kGap, kDhat));
      EXPECT_NEAR(ratio, 1, 0.1) << slimness << ", turned by " << angle;
    }
  }
}

// A ball on a floor: the integral of k |b'| over its underside.
TEST(ForceGapLaw, ABallOnAFloor) {
  constexpr double kRadius = 0.02, kWide = 2e-3;
  for (double gap : {2e-4, 6e-4}) {
    double expected = 0;  // 2 pi int |b'(gap + R - sqrt(R^2 - r^2))| cos r dr, over the surface: dA cos = 2 pi r dr
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
      const double r = kRadius * (i + 0.5) / kSteps;
      const double d = gap + kRadius - std::sqrt(kRadius * kRadius - r * r);
      const double slope = kRadius / std::sqrt(kRadius * kRadius - r * r);  // area over its projection
      if (d < kWide) expected -= 2 * std::numbers::pi * r * kRadius / kSteps * slope * BarrierFirst(d, kWide);
    }
    for (int level : {4, 5}) {
      for (int floor : {1, 7, 50}) {
        for (double angle : {0.0, 0.4}) {
          MeshData ball = testing::Sphere(Vec3::Zero(), kRadius, level);
          double lowest = 0;
          for (Vec3& v : ball.vertices) {
            v = Eigen::AngleAxisd(angle, Vec3(1, 2, 0.5).normalized()) * v;
            lowest = std::min(lowest, v.z());
          }
          Pair pair(ball, testing::Sheet(0.05, 0, floor), kWide);
          EXPECT_NEAR(pair.At(Vec3(0.0003, 0.0007, gap + kRadius)).force / expected, 1, 0.05)
              << "level " << level << ", floor in " << floor << ", angle " << angle << ", gap " << gap;
        }
      }
    }
  }
}

// The end of a post on a soft floor: rims guard it, and carry little of it, however long the triangles of the walls are.
TEST(ForceGapLaw, RimsOfLongWallsCarryLittle) {
  constexpr double kSize = 0.02;
  for (const double height : {0.02, 0.2, 2.0}) {
    const MeshData post = testing::BoxSurfaceGrid(Vec3(-kSize / 2, -kSize / 2, 0), Vec3(kSize / 2, kSize / 2, height), {20, 20, 1});
    Pair pair(Turned(post, 0.1, Vec3(0.0003, 0.0007, 0)), testing::Sheet(0.025, 0, 20));
    for (const double gap : {1e-4, 5e-4}) {
      const double whole = -kSize * kSize * BarrierFirst(gap, kDhat);
      EXPECT_LT(pair.At(Vec3(0, 0, gap)).by_edges, 0.03 * whole) << height << " m high, gap " << gap;
    }
  }
}

// Two layers that are flat at rest and have folded cross each other far from their vertices. At two thousandths of dhat the
// crossing carries a good part of what the whole area would at half of dhat; with the weight of flat edges it would take some 1e-6.
TEST(ForceGapLaw, FoldsOfWhatIsFlatAtRestCarryLoads) {
  constexpr double kLong = 0.02;
  MeshData sheet;
  sheet.vertices = {Vec3(-kLong / 2, 0, 0), Vec3(kLong / 2, 0, 0), Vec3(0, kLong, 0), Vec3(0, -kLong, 0)};
  sheet.triangles = {{0, 1, 2}, {1, 0, 3}};
  Pair pair(sheet, Turned(sheet, std::numbers::pi / 2, Vec3::Zero()));
  // The first opens upwards, the second downwards.
  for (const int32_t v : {2, 3}) pair.Deform(v, Vec3(0, 0, 0.5 * kLong));
  for (const int32_t v : {6, 7}) pair.Deform(v, Vec3(0, 0, -0.5 * kLong));
  const double own = -kLong * kLong * BarrierFirst(kDhat / 2, kDhat);  // of the same area at half of dhat
  EXPECT_GT(pair.At(Vec3(0, 0, 2e-3 * kDhat)).force, 0.1 * own);
}

// Force is minus the slope of the energy while a block slides over the edges of a fine floor: no jump anywhere.
TEST(ForceGapLaw, SmoothWhilePointsSlideAcrossEdges) {
  Pair pair(Turned(Block(0.01, 2, 0.005), 0.2, Vec3::Zero()), testing::Sheet(0.02, 0, 80));  // cells of half a dhat
  constexpr double kStep = 2e-6, kGap = 3e-4;
  Load last = pair.At(Vec3(0, 0, kGap));
  double largest_jump = 0;
  for (int i = 1; i <= 400; ++i) {
    const Load now = pair.At(Vec3(i * kStep, 0.3 * i * kStep, kGap));
    largest_jump = std::max(largest_jump, std::abs(now.force - last.force));
    last = now;
    if (i % 40 != 0) continue;
    constexpr double kH = 1e-8;
    const Vec3 at(i * kStep, 0.3 * i * kStep, kGap);
    const double slope = (pair.At(at + Vec3(0, 0, kH)).energy - pair.At(at - Vec3(0, 0, kH)).energy) / (2 * kH);
    EXPECT_NEAR(now.force / -slope, 1, 1e-5);
  }
  EXPECT_LT(largest_jump, 2e-3 * last.force);
}

}  // namespace
}  // namespace eipc
