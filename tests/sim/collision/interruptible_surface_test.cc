// What compiling makes of surfaces ends when nobody waits for it any more.
#include "sim/collision/interruptible_surface.h"

#include <gtest/gtest.h>

#include "sim/mesh/embedding.h"
#include "tests/sim/mesh/shapes.h"
#include "tests/support/interrupted.h"

namespace eipc {
namespace {

class InterruptibleSurface : public ::testing::Test {
 protected:
  // Of a ball, whose surface touches itself, in a cage of `cells`^3 cells; 0: its vertices move by themselves.
  void ExpectSummaryEnds(int cells, int least_polls) {
    std::vector<Vec3> rest = ball_.vertices;
    std::vector<EmbeddingRow> rows;
    if (cells > 0) {
      const MeshData cage = testing::BoxTets(Vec3::Constant(-0.035), Vec3::Constant(0.035), cells);
      const absl::StatusOr<TetMesh> tets = TetMesh::Create(cage.vertices, cage.tets);
      ASSERT_TRUE(tets.ok()) << tets.status();
      const absl::StatusOr<Embedding> embedding = Embedding::Create(*tets, ball_.vertices);
      ASSERT_TRUE(embedding.ok()) << embedding.status();
      rest = cage.vertices;
      rows = embedding->rows();
    }
    for (size_t v = 0; cells == 0 && v < rest.size(); ++v) {
      EmbeddingRow& row = rows.emplace_back();
      row.count = 1;
      row.nodes[0] = static_cast<int32_t>(v);
      row.weights[0] = 1;
    }
    testing::ExpectEndsWhenInterrupted(least_polls, [&](Interrupt* interrupt) {
      (void)SummarizeSurface(surface_, rows, rest, interrupt);
      return interrupt->status();
    });
  }

  const MeshData ball_ = testing::Sphere(Vec3::Zero(), 0.03, 4);
  const CollisionSurface surface_ = BuildCollisionSurface({ball_.vertices}, {ball_.triangles});
};

TEST_F(InterruptibleSurface, EndsWhileItIsBuilt) {
  testing::ExpectEndsWhenInterrupted(200, [this](Interrupt* interrupt) {
    (void)BuildCollisionSurface({ball_.vertices}, {ball_.triangles}, interrupt);
    return interrupt->status();
  });
}

TEST_F(InterruptibleSurface, EndsWhileItsNeighboursAreFound) { ExpectSummaryEnds(0, 400); }

TEST_F(InterruptibleSurface, EndsWhileItsProofsAreMade) { ExpectSummaryEnds(2, 400); }

}  // namespace
}  // namespace eipc
